//! Texts of every density, generated from a seed.

/// The kind of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Words,
    Csv,
    Log,
    Json,
    Base64,
    Chinese,
}

const WORDS: [&str; 12] = [
    "alpha", "beta", "gamma", "delta", "parser", "cache", "window", "token", "index", "ledger",
    "worker", "shard",
];
const PACKED: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const CHINESE: &str = "我们需要检查数据库迁移的结果并且确认所有测试都已经通过然后再继续处理下一个任务请不要修改配置文件中的任何内容因为那是由运维团队负责的";

/// Pseudorandom numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn next(&mut self, below: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % below
    }
}

/// A text of roughly this many tokens.
pub(crate) fn text(kind: Kind, tokens: usize, chance: &mut Chance) -> String {
    let chinese: Vec<char> = CHINESE.chars().collect();
    let part = |chance: &mut Chance| match kind {
        Kind::Words => (format!("{} ", WORDS[chance.next(WORDS.len())]), 1),
        Kind::Csv => {
            let (a, b, c) = (chance.next(99_999), chance.next(9_999), chance.next(999));
            (format!("{a},{b}.{c},ok\n"), 10)
        }
        Kind::Log => {
            let (at, id) = (chance.next(59), chance.next(1 << 30));
            (
                format!("2026-11-16T05:{at:02}:01Z INFO worker request id={id:08x} took=12ms\n"),
                35,
            )
        }
        Kind::Json => {
            let (id, price) = (chance.next(9_999), chance.next(99_999));
            (
                format!("{{\"id\":{id},\"name\":\"item\",\"price\":{price},\"ok\":true}},"),
                20,
            )
        }
        Kind::Base64 => {
            let text = (0..40).map(|_| PACKED[chance.next(PACKED.len())] as char);
            (text.collect(), 29)
        }
        Kind::Chinese => (chinese[chance.next(chinese.len())].to_string(), 1),
    };
    let (mut text, mut made) = (String::new(), 0);
    while made < tokens {
        let (more, tokens) = part(chance);
        text.push_str(&more);
        made += tokens;
    }
    text
}
