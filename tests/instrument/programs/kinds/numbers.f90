module shapes
  implicit none
  type :: point
    real(8) :: x = 0, y = 0
  end type
contains
  recursive integer function ackermann(m, n) result(r)
    integer, intent(in) :: m, n
    if (m == 0) then
      r = n + 1
    else if (n == 0) then
      r = ackermann(m - 1, 1)
    else
      r = ackermann(m - 1, ackermann(m, n - 1))
    end if
  end function
  subroutine apply(f, values)
    interface
      pure real(8) function f(x)
        real(8), intent(in) :: x
      end function
    end interface
    real(8), intent(inout) :: values(:)
    integer :: i
    do i = 1, size(values)
      values(i) = f(values(i))
    end do
  end subroutine
  pure real(8) function square(x)
    real(8), intent(in) :: x
    square = x * x
  end function
end module

program numbers
  use shapes
  implicit none
  real(8) :: values(10), a(8, 8), b(8, 8)
  character(len=20) :: word
  integer :: i, j
  values = [(real(i, 8), i = 1, 10)]
  call apply(square, values)
  print '(10F8.2)', values
  forall (i = 1:8, j = 1:8) a(i, j) = i * 0.5d0 + j
  b = matmul(a, transpose(a))
  print '(4F12.3)', b(1, 1), b(4, 5), sum(b), maxval(b)
  print *, ackermann(2, 3)
  do i = 1, 6
    select case (i)
    case (1); word = 'one'
    case (2:3); word = 'few'
    case (5); word = 'hand'
    case default; word = 'many'
    end select
    write (*, '(A)') trim(word)
  end do
  print '(A)', repeat('ab', 3) // adjustl('   x')
  stop 4
end program
