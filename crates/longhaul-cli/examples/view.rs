//! scratch
use longhaul_core::{message::Scanner, tokens::Rough, transcript::*};
fn main() {
    let f = std::env::args().nth(1).unwrap();
    let mut r = longhaul_store::LineReader::open(std::path::Path::new(&f)).unwrap();
    let mut t = Table::default();
    let mut s = Scanner::default();
    while let Some(l) = r.next().unwrap() {
        if let Ok(f) = s.scan(l.bytes) {
            t.push(l.number, l.offset, f.view(l.bytes), &Rough);
        }
    }
    let mut p = vec![];
    let c = Conversation::resolve(&t, &mut p);
    println!(
        "{:?}",
        c.view()
            .rows
            .iter()
            .map(|r| t.rows()[*r as usize].line)
            .collect::<Vec<_>>()
    );
    println!("{:?}", c.segments());
    println!("{:#?}", p);
}
