//! Commands that only look need no rule; what also does something else does.

use super::*;

#[cfg(unix)]
#[test]
fn q1_looking_around_in_the_workspace_needs_no_rule() {
    let world = World::new();
    std::os::unix::fs::symlink("/etc", world.cwd.join("link")).unwrap();
    check(
        &world.allowing(&[]),
        &[
            ("ls", "allow"),
            ("ls -la src", "allow"),
            ("ls *.txt", "allow"),
            ("cat a.txt | head -5 | wc -l", "allow"),
            ("grep -rn 'fn main' src 2>/dev/null", "allow"),
            ("rg -n todo", "allow"),
            ("find . -name '*.rs' -type f", "allow"),
            ("sed -n '1,20p' src/main.rs", "allow"),
            ("cd src && ls", "allow"),
            ("git status && git diff --stat", "allow"),
            ("git log --oneline -n 5", "allow"),
            ("git branch --show-current", "allow"),
            ("echo hello", "allow"),
            ("pwd", "allow"),
            ("x=1; echo done", "allow"),
            ("timeout 5 ls", "allow"),
            ("ls ..", "ask"),
            ("cat /etc/passwd", "ask"),
            ("cat ../elsewhere/x", "ask"),
            ("cat ~/.ssh/id_rsa", "ask"),
            ("cat link/passwd", "ask"),
            ("cat *", "ask"),
            ("cat $HOME/x", "ask"),
            ("echo $SECRET", "ask"),
            ("cat < /etc/passwd", "ask"),
            ("grep -f/etc/passwd x", "ask"),
            ("grep --file=/etc/passwd x", "ask"),
            ("find . -exec rm {} \\;", "ask"),
            ("find . -delete", "ask"),
            ("find / -name x", "ask"),
            ("sort -o a.txt a.txt", "ask"),
            ("sort --outp=x a.txt", "ask"),
            ("sort -uo x a.txt", "ask"),
            ("uniq a.txt b.txt", "ask"),
            ("rg --pre ./evil x", "ask"),
            ("sed -i s/a/b/ a.txt", "ask"),
            ("sed -n '1w out' a.txt", "ask"),
            ("git diff --output=x", "ask"),
            ("git diff --outpu=x", "ask"),
            ("git -c core.pager=evil log", "ask"),
            ("git -C .. status", "ask"),
            ("git branch new", "ask"),
            ("git stash", "ask"),
            ("git push", "ask"),
            ("cd src && git status", "allow"),
            ("cd .. && ls", "ask"),
            ("cd src && cat ../../elsewhere/x", "ask"),
            ("cd && ls", "ask"),
            ("ls > list.txt", "ask"),
            ("\\ls", "ask"),
            ("./ls", "ask"),
            ("date -s 2020-01-01", "ask"),
            ("printf -v PATH x", "ask"),
            ("env", "ask"),
            ("tail -f a.txt", "ask"),
        ],
    );
}

#[test]
fn q1_what_only_looks_stays_free_where_that_can_be_told() {
    let world = World::new();
    std::fs::write(world.cwd.join("b.txt"), "x").unwrap();
    check(
        &world.allowing(&[]),
        &[
            ("cat *.txt", "allow"),
            ("wc -l *.txt src/*", "allow"),
            ("grep -rn foo src *.txt", "allow"),
            ("grep -rn --include='*.rs' 'fn main' .", "allow"),
            ("find . -name '*.rs' | head -5", "allow"),
            ("for f in *.txt; do echo found; done", "allow"),
            ("for i in 1 2 3; do date; sleep 1; done", "allow"),
            ("if [ -f a.txt ]; then cat a.txt; fi", "allow"),
            ("[ -d src ] && ls src || echo none", "allow"),
            ("[ ! -e x ] && [ 1 -lt 2 ] && [ a != b ]", "allow"),
            ("[[ -f a.txt && ! -d a.txt ]] && [[ 2 -gt 1 ]]", "allow"),
            ("x=$((1 + 2 * (3 - 1))); ls", "allow"),
            ("x=abc; y=${x:0:2} z=${x%c} w=${#x} v=${x:-none}", "allow"),
            ("arr=(a b c); x=${arr[0]} y=${#arr[@]}", "allow"),
            ("case a in a|b) ls;; *) pwd;; esac", "allow"),
            ("cat <<'EOF'\n$(x) $((y))\nEOF", "allow"),
            ("diff a.txt b.txt", "allow"),
            ("diff -u src/main.rs a.txt | head", "allow"),
            ("printf '%s %5d\\n' a 1", "allow"),
            ("echo *.txt {a} 'it'\\''s'", "allow"),
            ("ls -la src/ && cd src && ls", "allow"),
            ("longhaul_cwd=a.txt; ls", "ask"),
            ("for longhaul_cwd in a.txt; do ls; done", "ask"),
            ("uniq -c < a.txt", "allow"),
            ("sort a.txt | uniq -c | sort -rn", "allow"),
            ("git log --oneline -n 5 -- src", "allow"),
        ],
    );
}

#[cfg(unix)]
#[test]
fn q1_wildcards_outside_of_arguments_do_not_list_folders_outside() {
    let world = World::new();
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), world.cwd.join("way_out")).unwrap();
    check(
        &world.permissions(ApprovalMode::Default, &[], &[], &[]),
        &[
            ("for f in way_out/*; do ls; done", "ask"),
            ("for f in /etc/*; do ls; done", "ask"),
            ("names=(way_out/*); ls", "ask"),
            ("x='way_out/*'; for f in $x; do ls; done", "ask"),
            ("for f in src/*; do ls; done", "allow"),
            ("for f in 1 2 3; do ls; done", "allow"),
            ("for f in 'way_out/*'; do ls; done", "allow"),
        ],
    );
}

#[test]
fn q1_a_loop_that_may_have_no_end_is_asked_for() {
    let world = World::new();
    check(
        &world.permissions(ApprovalMode::Default, &[], &[], &[]),
        &[
            ("while [[ x-gt1 ]]; do ls; done", "ask"),
            ("while ls; do ls; done", "ask"),
            ("until read line; do ls; done", "ask"),
            ("for f in 1 2; do ls; done", "allow"),
        ],
    );
}
