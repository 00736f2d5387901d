//! Lookup by id, by path, and by words.

use longhaul_store::archive::{ArchiveItemKind, PathMatch, SearchScope, ViewPresence, WordMatch};
use proptest::prelude::*;
use serde_json::json;

use super::{archive, call, finds, items, message, put, result, search};

#[test]
fn u2_a_cleared_result_comes_back_by_its_tool_use_id() {
    let (_folder, mut archive) = archive();
    let entries = [
        call(
            "toolu_1",
            "Read",
            json!({"file_path": "/srv/app/src/main.rs"}),
            5,
        ),
        result("toolu_1", "fn main() {}\n", 5),
    ];
    let cleared: Vec<_> = (items(&entries, ViewPresence::Cleared).into_iter())
        .filter(|item| item.kind == ArchiveItemKind::ToolResult)
        .collect();
    archive.put(&cleared).unwrap();
    let records = archive.by_tool_use_id("toolu_1").unwrap();
    let [record] = &records[..] else {
        panic!("{records:?}")
    };
    assert_eq!(archive.text(record).unwrap(), "fn main() {}\n");
    assert_eq!(record.tool.as_deref(), Some("Read"));
    assert_eq!(record.path.as_deref(), Some("/srv/app/src/main.rs"));
    assert_eq!(record.session.as_deref(), Some("s"));
    assert_eq!(record.tokens.unpadded(), 3);
    assert_eq!(record.presence, ViewPresence::Cleared);
    assert_eq!(
        record.timestamp.unwrap().to_string(),
        "2026-02-12T16:06:00Z"
    );
    assert!(archive.by_tool_use_id("toolu_2").unwrap().is_empty());
}

#[test]
fn u2_archiving_again_changes_nothing_but_the_reason() {
    let (_folder, mut archive) = archive();
    let entries = [message("m", "needle in the hay")];
    archive
        .put(&items(&entries, ViewPresence::Cleared))
        .unwrap();
    archive
        .put(&items(&entries, ViewPresence::Summarized))
        .unwrap();
    let hits = search(&archive, "needle");
    assert_eq!(hits.len(), 1);
    assert_eq!(hits[0].record.presence, ViewPresence::Summarized);
}

#[test]
fn x2_every_kind_of_content_is_kept() {
    let (_folder, mut archive) = archive();
    let entries = [
        super::entry(
            &json!({"type": "assistant", "uuid": "a", "message": {"content": [
            {"type": "thinking", "thinking": "ponder deeply", "signature": "x"},
            {"type": "text", "text": "first half"},
            {"type": "tool_use", "id": "t", "name": "Edit",
             "input": {"file_path": "a.rs", "new_string": "one\ntwo", "edits": [{"old": "x\ty"}], "n": 3}},
            {"type": "text", "text": "second half"}]}}),
        ),
        super::entry(
            &json!({"type": "user", "uuid": "b", "message": {"content": [
            {"type": "tool_result", "tool_use_id": "t", "content": [
                {"type": "text", "text": "part one"}, {"type": "image", "source": {}},
                {"type": "text", "text": "part two"}]}]}}),
        ),
        super::entry(
            &json!({"type": "user", "uuid": "c", "isCompactSummary": true,
            "message": {"content": "the gist of it"}}),
        ),
        super::entry(&json!({"type": "attachment", "uuid": "d",
            "attachment": {"type": "file", "filename": "notes.md", "content": "remember\nthis"}})),
        super::entry(&json!({"type": "progress", "uuid": "e", "data": "never shown"})),
        super::entry(&json!({"type": "summary", "summary": "a title"})),
    ];
    put(&mut archive, &entries);
    let mut kept: Vec<(ArchiveItemKind, String)> = Vec::new();
    for uuid in ["a", "b", "c", "d", "e"] {
        for record in archive.by_id(uuid).unwrap() {
            kept.push((record.kind, archive.text(&record).unwrap()));
        }
    }
    let expected = [
        (ArchiveItemKind::Thinking, "ponder deeply"),
        (
            ArchiveItemKind::AssistantMessage,
            "first half\n\nsecond half",
        ),
        (
            ArchiveItemKind::ToolCall,
            "edits.old: x\ty\nfile_path: a.rs\nn: 3\nnew_string:\none\ntwo",
        ),
        (ArchiveItemKind::ToolResult, "part one\n[image]\npart two"),
        (ArchiveItemKind::Summary, "the gist of it"),
        (
            ArchiveItemKind::Attachment,
            "content:\nremember\nthis\nfilename: notes.md\ntype: file",
        ),
    ];
    assert_eq!(kept, expected.map(|(kind, text)| (kind, text.to_owned())));
    // The result knows its call.
    assert_eq!(
        archive.by_tool_use_id("t").unwrap()[1].path.as_deref(),
        Some("a.rs")
    );
}

#[test]
fn x2_a_path_is_found_whole_by_its_end_and_by_its_name_newest_first() {
    let (_folder, mut archive) = archive();
    let mut entries = Vec::new();
    let reads = [
        ("t1", "/srv/app/src/main.rs", 1),
        ("t2", "/srv/lib/src/main.rs", 10),
        ("t3", "/srv/app/src/main.rs", 20),
        ("t4", "/srv/app/README.md", 30),
        ("t5", "C:\\work\\App\\Main.cs", 40),
        ("t6", "/srv/domain.rs", 50),
    ];
    for (id, path, minute) in reads {
        entries.push(call(id, "Read", json!({"file_path": path}), minute));
    }
    put(&mut archive, &entries);
    let finds = |path: &str| {
        let found = archive.by_path(path).unwrap();
        found.map(|(fit, records)| {
            let ids = records
                .into_iter()
                .map(|record| record.tool_use_id.unwrap());
            (fit, ids.collect::<Vec<_>>().join(" "))
        })
    };
    let cases = [
        ("/srv/app/src/main.rs", PathMatch::Exact, "t3 t1"),
        ("/SRV/app/src/Main.rs", PathMatch::ExactInOtherCase, "t3 t1"),
        ("src/main.rs", PathMatch::Suffix, "t3 t2 t1"),
        ("./app/src/main.rs", PathMatch::Suffix, "t3 t1"),
        ("main.rs", PathMatch::Suffix, "t3 t2 t1"),
        ("readme.md", PathMatch::SuffixInOtherCase, "t4"),
        ("work/app/main.cs", PathMatch::SuffixInOtherCase, "t5"),
        ("App\\Main.cs", PathMatch::Suffix, "t5"),
        ("other/main.rs", PathMatch::SameName, "t3 t2 t1"),
    ];
    for (path, fit, ids) in cases {
        assert_eq!(finds(path), Some((fit, ids.to_owned())), "{path}");
    }
    assert_eq!(finds("ain.rs"), None);
    assert_eq!(finds(""), None);
}

#[test]
fn x2_words_are_found_in_code_and_in_every_script() {
    let (_folder, mut archive) = archive();
    let texts = [
        ("snake", "let foo_bar = cache_miss_count();"),
        ("camel", "const userName = getHTTPServer(fooBar);"),
        (
            "path",
            "see crates/longhaul-store/src/archive/mod.rs:12 for it",
        ),
        ("chinese", "清除缓存失败，请重试。"),
        ("japanese", "キャッシュの有効期限が切れました"),
        ("korean", "캐시를 지웠습니다"),
        ("thai", "ล้างแคชแล้ว"),
        ("german", "Die Größe der Änderung"),
        ("french", "le café est fermé"),
        ("emoji", "done 🎉 shipped"),
    ];
    let entries: Vec<_> = texts
        .iter()
        .map(|(uuid, text)| message(uuid, text))
        .collect();
    put(&mut archive, &entries);
    let cases: [(&str, &[&str]); 32] = [
        ("foo_bar", &["snake", "camel"]),
        ("fooBar", &["camel", "snake"]),
        ("foobar", &["camel"]),
        ("FOO_BAR", &["snake", "camel"]),
        ("cache_miss_count", &["snake"]),
        ("miss", &["snake"]),
        ("cache_mi", &["snake"]),
        ("userN", &["camel"]),
        ("gethttpserver", &["camel"]),
        ("HTTPServer", &["camel"]),
        ("server", &["camel"]),
        ("getHTTP", &["camel"]),
        ("src/archive/mod.rs", &["path"]),
        ("longhaul-store", &["path"]),
        ("archive/mod.rs:12", &["path"]),
        ("mod.r", &["path"]),
        ("缓存", &["chinese"]),
        ("清除缓存失败", &["chinese"]),
        ("存", &["chinese"]),
        ("存缓", &[]),
        ("\"缓存 失败\"", &["chinese"]),
        ("有効期限", &["japanese"]),
        ("キャッシュ", &["japanese"]),
        ("캐시", &["korean"]),
        ("แคช", &["thai"]),
        ("größe", &["german"]),
        ("GRÖSSE", &[]),
        ("anderung", &["german"]),
        ("cafe", &["french"]),
        ("shipped", &["emoji"]),
        ("🎉", &[]),
        ("caf", &["french"]),
    ];
    for (words, expected) in cases {
        let mut found = finds(&archive, words);
        let mut expected = expected.to_vec();
        found.sort();
        expected.sort_unstable();
        assert_eq!(found, expected, "{words}");
    }
}

#[test]
fn x2_all_words_are_wanted_then_some_and_quotes_make_a_phrase() {
    let (_folder, mut archive) = archive();
    put(
        &mut archive,
        &[
            message("both", "the cache had a miss"),
            message("cache", "the cache was warm"),
            message("phrase", "a cache miss it was"),
        ],
    );
    let found = archive
        .search("cache miss", SearchScope::Everything, 10)
        .unwrap();
    assert_eq!((found.hits.len(), found.matched), (2, WordMatch::AllWords));
    assert_eq!(finds(&archive, "\"cache miss\""), ["phrase"]);
    assert_eq!(finds(&archive, "\"cache miss"), ["phrase"], "left open");
    let found = archive
        .search("warm misses", SearchScope::Everything, 10)
        .unwrap();
    assert_eq!((found.hits.len(), found.matched), (1, WordMatch::SomeWords));
    let found = archive.search("cache", SearchScope::Everything, 2).unwrap();
    assert!(found.hits.len() == 2 && found.more);
    assert_eq!(finds(&archive, "mis "), [""; 0], "a blank ends the word");
}

#[test]
fn x2_hits_carry_a_snippet_with_the_words_marked() {
    let (_folder, mut archive) = archive();
    let filler = "lorem ipsum ".repeat(5_000);
    put(
        &mut archive,
        &[message(
            "m",
            &format!("{filler}\n\tfind fooBar here\n{filler}"),
        )],
    );
    let hits = search(&archive, "foo_bar here");
    let snippet = hits[0].snippet.with_marks("[", "]");
    assert!(
        snippet.contains(" find [foo][Bar] [here] lorem"),
        "{snippet}"
    );
}

#[test]
fn x2_a_result_of_megabytes_comes_back_in_parts() {
    let (_folder, mut archive) = archive();
    let text = "0123456789ä漢🎉\n".repeat(220_000);
    put(&mut archive, &[result("t", text.clone(), 1)]);
    let record = &archive.by_tool_use_id("t").unwrap()[0];
    let mut whole = String::new();
    let mut at = Some(0);
    let mut parts = 0;
    while let Some(offset) = at {
        let page = archive.page(record, offset, 1_000_000).unwrap();
        assert_eq!(page.total, text.chars().count() as u64);
        whole.push_str(&page.text);
        at = page.next;
        parts += 1;
    }
    assert!(whole == text && parts == 4, "{parts}");
    let beyond = archive.page(record, u64::MAX, 10).unwrap();
    assert_eq!((beyond.text.as_str(), beyond.next), ("", None));
}

#[test]
fn x2_the_scope_leaves_out_what_the_model_still_sees() {
    let (_folder, mut archive) = archive();
    archive
        .put(&items(&[message("seen", "apple")], ViewPresence::Live))
        .unwrap();
    archive
        .put(&items(
            &[message("gone", "apple")],
            ViewPresence::Summarized,
        ))
        .unwrap();
    let found = archive.search("apple", SearchScope::OutOfView, 10).unwrap();
    assert_eq!(found.hits.len(), 1);
    assert_eq!(found.hits[0].record.uuid, "gone");
    assert_eq!(finds(&archive, "apple").len(), 2);
    assert_eq!(archive.newest(SearchScope::OutOfView, 5).unwrap().len(), 1);
}

/// Texts that contain everything with a meaning in the index's own query language.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\"".to_owned()),
        Just("*".to_owned()),
        Just("(".to_owned()),
        Just(")".to_owned()),
        Just(" AND ".to_owned()),
        Just(" OR ".to_owned()),
        Just(" NOT ".to_owned()),
        Just("NEAR(".to_owned()),
        Just("about:".to_owned()),
        Just("^".to_owned()),
        Just("{".to_owned()),
        Just("+".to_owned()),
        Just("-".to_owned()),
        Just("\0".to_owned()),
        Just("'".to_owned()),
        Just(";".to_owned()),
        Just("缓存".to_owned()),
        Just("fooBar".to_owned()),
        any::<char>().prop_map(String::from),
        "\\PC{0,6}",
        "[a-z]{1,5} ",
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

#[test]
fn x2_no_query_is_a_syntax_error() {
    let (_folder, mut archive) = archive();
    put(
        &mut archive,
        &[message("m", "some text with fooBar and 缓存")],
    );
    let mut runner = proptest::test_runner::TestRunner::default();
    runner
        .run(&hostile(), |words| {
            archive.search(&words, SearchScope::Everything, 3).unwrap();
            archive.by_path(&words).unwrap();
            archive.by_id(&words).unwrap();
            Ok(())
        })
        .unwrap();
    let long = "word ".repeat(100_000);
    archive.search(&long, SearchScope::Everything, 3).unwrap();
    archive
        .search(&"\"(".repeat(10_000), SearchScope::Everything, 3)
        .unwrap();
}

#[test]
fn x2_every_text_is_found_by_its_own_words() {
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(40));
    let texts = proptest::collection::vec("[a-zA-Z0-9_/ .äöé漢字かな]{1,40}", 1..20);
    runner
        .run(&texts, |texts| {
            let (_folder, mut archive) = archive();
            let numbered = texts.iter().enumerate();
            let texts: Vec<_> = numbered
                .map(|(n, text)| (format!("m{n}"), format!("{text} end{n}x")))
                .collect();
            let entries: Vec<_> = texts
                .iter()
                .map(|(uuid, text)| message(uuid, text))
                .collect();
            put(&mut archive, &entries);
            for (uuid, text) in &texts {
                prop_assert!(finds(&archive, text).contains(uuid), "{text}");
                prop_assert!(
                    finds(&archive, &format!("\"{text}\"")).contains(uuid),
                    "{text}"
                );
            }
            Ok(())
        })
        .unwrap();
}
