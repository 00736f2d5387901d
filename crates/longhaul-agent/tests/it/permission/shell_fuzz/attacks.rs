//! Commands that look harmless and are not. Each was a hole once or lies next to one.

use longhaul_agent::event::ApprovalMode;

pub(super) struct Attack {
    pub(super) command: &'static str,
    /// The folder that the shell is in, relative to the project.
    pub(super) folder: &'static str,
    /// The only mode in which it is an attack; if none, it is one in every mode.
    pub(super) under: Option<ApprovalMode>,
    /// Whether it is an attack only where a rule denies reading.
    pub(super) needs_deny: bool,
}

const fn anywhere(command: &'static str) -> Attack {
    in_folder("", command)
}

const fn in_folder(folder: &'static str, command: &'static str) -> Attack {
    Attack {
        command,
        folder,
        under: None,
        needs_deny: false,
    }
}

const fn denied(command: &'static str) -> Attack {
    Attack {
        needs_deny: true,
        ..anywhere(command)
    }
}

const fn editing(folder: &'static str, command: &'static str) -> Attack {
    Attack {
        under: Some(ApprovalMode::AcceptEdits),
        ..in_folder(folder, command)
    }
}

pub(super) const ATTACKS: &[Attack] = &[
    // Arithmetic, subscripts, offsets and indirection evaluate the values of variables.
    anywhere("x='a[$(pwn)]'; y=$((x))"),
    anywhere("x='a[$(pwn)]'; echo \"$((x))\""),
    anywhere("x='a[$(pwn)]'; y=$[x]"),
    anywhere("x='a[$(pwn)]'; y=\"$[x]\""),
    anywhere("x='a[$(pwn)]'; z=abc; y=${z:x}"),
    anywhere("x='a[$(pwn)]'; z=abc; y=${z:0:x}"),
    anywhere("x='a[$(pwn)]'; z=abc; y=\"${z:x}\""),
    anywhere("x='a[$(pwn)]'; [[ x -eq 1 ]]"),
    anywhere("x='a[$(pwn)]'; [[ $x -eq 1 ]]"),
    anywhere("x='a[$(pwn)]'; [[ a == b || x -eq 1 ]]"),
    anywhere("x='a[$(pwn)]'; [[ ( ! x -lt 1 ) ]]"),
    anywhere("x='a[$(pwn)]'; if [[ x -gt 1 ]]; then ls; fi"),
    anywhere("x='a[$(pwn)]'; while [[ x -gt 1 ]]; do ls; done"),
    anywhere("x='a[$(pwn)]'; until [[ 1 -ge x ]]; do ls; break; done"),
    anywhere("x='a[$(pwn)]'; y=${!x}"),
    anywhere("for x in 'a[$(pwn)]'; do y=$((x)); done"),
    anywhere("x='a[$(pwn)]'; arr=([x]=1)"),
    anywhere("x='a[$(pwn)]'; arr=(1 [x]+=1)"),
    anywhere("x='a[$(pwn)]'; arr=($((x)))"),
    anywhere("x='a[$(pwn)]'; case $((x)) in 1) ls;; esac"),
    anywhere("x='a[$(pwn)]'; case 1 in $((x))) ls;; esac"),
    anywhere("x='a[$(pwn)]'; cat <<< $((x))"),
    anywhere("x='a[$(pwn)]'; cat <<EOF\n$[x]\nEOF"),
    anywhere("x='a[$(pwn)]'; cat <<EOF\n$((x))\nEOF"),
    anywhere("x='a[$(pwn)]'; ((x))"),
    anywhere("x='a[$(pwn)]'; ((x)) && ls"),
    anywhere("x='a[$(pwn)]'; let x"),
    anywhere("x='a[$(pwn)]'; declare -i y=x"),
    anywhere("x='a[$(pwn)]'; arr=(1 2); y=${arr[x]}"),
    anywhere("x='a[$(pwn)]'; arr[x]=1"),
    anywhere("arr=(1 2); x='a[$(pwn)]'; y=${#arr[x]}"),
    anywhere("a=(1); unset 'a[$(pwn)]'"),
    anywhere("test -v 'a[$(pwn)]'"),
    anywhere("[ -v 'a[$(pwn)]' ]"),
    anywhere("[[ -v a[$(pwn)] ]]"),
    anywhere("x='a[$(pwn)]'; [ -v \"$x\" ]"),
    anywhere("op=-v; x='a[$(pwn)]'; [ \"$op\" \"$x\" ]"),
    anywhere("x='-v a[$(pwn)]'; [ $x ]"),
    anywhere("arr=(-v 'a[$(pwn)]'); [ \"${arr[@]}\" ]"),
    anywhere("[ {-v,'a[$(pwn)]'} ]"),
    anywhere("printf -v 'a[$(pwn)]' x"),
    anywhere("x='$(pwn)'; y=${x@P}"),
    anywhere("for ((i=0; i<1; i++)); do pwn; done"),
    anywhere("read 'a[$(pwn)]' < a.txt"),
    anywhere("mapfile -C pwn -c 1 x < a.txt"),
    anywhere("coproc pwn; wait"),
    anywhere("exec pwn"),
    anywhere("RANDOM='a[$(pwn)]'"),
    anywhere("x='a[$(pwn)]'; cat {b[x]}<a.txt"),
    anywhere("x='a[$(pwn)]'; y=a; [[ a =~ $((x)) ]]"),
    anywhere("x='a[$(pwn)]'; [[ a == b$((x))* ]]"),
    anywhere("y=${x:-$(pwn)}"),
    anywhere("y=${x:-`pwn`}"),
    anywhere("x='a[$(pwn)]'; y=${z:-$((x))}"),
    // Text between backticks is parsed twice.
    anywhere("y=`echo \"\\$(pwn)\"`"),
    anywhere("echo a`echo \\`pwn\\``"),
    // Quoting and comments.
    anywhere("echo \"x\"#; pwn"),
    anywhere("[-f a.txt ]"),
    anywhere("[ a.txt\npwn ]"),
    anywhere("[\npwn ]"),
    anywhere("[ a > written ]"),
    anywhere("[ a \\> b -o b ] > written"),
    anywhere("uniq -- a.txt -written"),
    // Wildcards and braces next to quotes.
    anywhere("cat \"\"lin?file"),
    anywhere("cat \"\"*"),
    anywhere("cat 'lin'*"),
    anywhere("cat \"\"{linkfile,a.txt}"),
    anywhere("cat a.txt < linkfil?"),
    anywhere("ls link*"),
    anywhere("ls *"),
    anywhere("echo link/*"),
    anywhere("printf '%s\\n' ../outside/*"),
    anywhere("for f in link/*; do ls; done; echo link/*"),
    in_folder("odd", "find *"),
    denied("cat .en\"\"?"),
    denied("cat .en?"),
    denied("cat .[e]nv"),
    denied("cat \"\"{.env,a.txt}"),
    denied("head -n 5 .e*"),
    // Recursion through folders.
    anywhere("diff -r twin ."),
    anywhere("diff twin ."),
    anywhere("diff b.txt twin"),
    anywhere("ls -RL ."),
    denied("grep -r '' ."),
    denied("grep -rn CANARY"),
    denied("grep -rn CANARY src sec*"),
    denied("grep -d recurse '' ."),
    denied("grep -d recurs '' ."),
    denied("grep --dir=rec '' ."),
    denied("grep --recursive -e CANARY"),
    denied("diff -rN secret src"),
    denied("diff -r secret vault"),
    denied("grep -f.env a.txt"),
    // The folder that the shell is in.
    in_folder("docs/sub", "cat up/f"),
    in_folder("docs/sub", "cat up/CANARY*"),
    in_folder("docs/sub", "cat ../../../outside/f"),
    in_folder("docs/sub", "ls up/"),
    anywhere("cd docs/sub; cat up/f"),
    anywhere("cd deep/../..; ls; cat outside/f"),
    anywhere("cd deep && cd ../.. && cat outside/f"),
    anywhere("time cd link; ls"),
    anywhere("for i in 1 2; do cd nest; done; ls"),
    anywhere("while cd nest; do ls; break; done; cd nest; ls"),
    anywhere("ls() { cd nest; }; ls; ls; cat f"),
    anywhere("cd; cat f"),
    anywhere("cd ~; cat f"),
    anywhere("pushd link; cat f"),
    anywhere("cd link; cd -; cat link/f"),
    anywhere("CDPATH=../outside/..; cd outside; cat f"),
    anywhere("CDPATH=.. cd outside && cat f"),
    anywhere("HOME=../outside cd; cat f"),
    editing("docs/sub", "echo x > up/written"),
    editing("", "echo x > link/written"),
    editing("", "cd docs/sub; echo x > up/written"),
    editing("", "cd deep/../.. && echo x > outside/written"),
    editing("", "for i in 1 2; do cd nest; done; echo x > written"),
];
