//! scratch
use longhaul_core::inspect::{Inspection, LineEnd};
fn main() {
    let f = std::env::args().nth(2).unwrap();
    let mut r = longhaul_store::LineReader::open(std::path::Path::new(&f)).unwrap();
    let mut i = Inspection::new();
    while let Some(l) = r.next().unwrap() {
        let e = match l.ending {
            longhaul_store::Ending::Lf => LineEnd::Lf,
            longhaul_store::Ending::CrLf => LineEnd::CrLf,
            longhaul_store::Ending::None => LineEnd::EndOfFile,
        };
        i.line(l.number, l.offset, l.bytes, e);
    }
    if r.had_bom() {
        i.byte_order_mark();
    }
    let rep = i
        .report(
            &longhaul_core::models::ModelTable::builtin(),
            &Default::default(),
        )
        .unwrap();
    println!("{}", serde_json::to_string(&rep).unwrap());
    if !rep.problems.is_empty() {
        std::process::exit(1)
    }
}
