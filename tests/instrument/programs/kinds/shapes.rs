use std::collections::{BTreeMap, HashSet};
use std::panic;
use std::thread;

trait Shape {
    fn area(&self) -> f64;
    fn name(&self) -> String;
}
struct Circle(f64);
struct Square(f64);
impl Shape for Circle {
    fn area(&self) -> f64 { 3.0 * self.0 * self.0 }
    fn name(&self) -> String { format!("circle {}", self.0) }
}
impl Shape for Square {
    fn area(&self) -> f64 {
        if self.0 > 3.0 { panic!("too large: {}", self.0) }
        self.0 * self.0
    }
    fn name(&self) -> String { format!("square {}", self.0) }
}
impl Drop for Square {
    fn drop(&mut self) { println!("dropped {}", self.0) }
}

#[derive(Debug, Clone, PartialEq)]
enum Word { Number(i64), Plus, Times, Open, Close }

fn words(text: &str) -> Result<Vec<Word>, String> {
    let mut out = Vec::new();
    for part in text.split_whitespace() {
        out.push(match part {
            "+" => Word::Plus,
            "*" => Word::Times,
            "(" => Word::Open,
            ")" => Word::Close,
            n => Word::Number(n.parse().map_err(|e| format!("{n}: {e}"))?),
        });
    }
    Ok(out)
}

fn main() {
    panic::set_hook(Box::new(|info| println!("panic at line {}", info.location().unwrap().line())));
    let shapes: Vec<Box<dyn Shape>> = vec![Box::new(Circle(2.0)), Box::new(Square(1.5))];
    let total: f64 = shapes.iter().map(|s| s.area()).sum();
    println!("{total:.2} {}", shapes.iter().map(|s| s.name()).collect::<Vec<_>>().join(", "));
    let caught = panic::catch_unwind(|| {
        let large = Square(9.0);
        large.area()
    });
    println!("caught {}", caught.is_err());
    let mut counts = BTreeMap::new();
    for c in "the quick brown fox jumps over the lazy dog".chars().filter(|c| c.is_alphabetic()) {
        *counts.entry(c).or_insert(0) += 1;
    }
    println!("{:?}", counts);
    println!("{:?} {:?}", words("1 + ( 22 * 3 )"), words("1 + x"));
    let sums: Vec<u64> = (0..4u64)
        .map(|t| thread::spawn(move || (0..1000).filter(|n| n % 7 == t).map(|n| n * n).sum::<u64>()))
        .map(|h| h.join().unwrap())
        .collect();
    println!("{sums:?} {}", sums.iter().collect::<HashSet<_>>().len());
    let failed = thread::spawn(|| { let v: Vec<i32> = Vec::new(); v[3] }).join();
    println!("thread failed {}", failed.is_err());
    std::process::exit(6);
}
