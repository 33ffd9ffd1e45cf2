-- Requests as SPECweb99's static ones: four classes of files, of 0.1 to 0.9, 1 to 9, 10 to 90 and 100 to 900 KB,
-- nine files each, and ten requests to a connection. For wrk.
local shares = { 35, 50, 14, 1 } -- of the classes, in hundredths
local requests, next_one = {}, 0

function init()
  math.randomseed(1)
  for _ = 1, 10 do
    for class, share in ipairs(shares) do
      for _ = 1, share do
        local path = string.format("/mix/%d-%d", class, math.random(9))
        requests[#requests + 1] = wrk.format("GET", path, math.random(10) == 1 and { Connection = "close" } or {})
      end
    end
  end
  for i = #requests, 2, -1 do
    local j = math.random(i)
    requests[i], requests[j] = requests[j], requests[i]
  end
end

function request()
  next_one = next_one % #requests + 1
  return requests[next_one]
end
