#!/usr/bin/env bash
# test_hooks.sh: the hook with pre-commit itself, from PyPI, in a repository of its own, and the script of the GitHub
# Action on files of a release. The program is that of make static, as the action takes it.
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/root.bash
. tools/python.bash
[ -x build/static/twinsift-x86_64 ] || tools/static.sh >/dev/null
make_venv hooks pre-commit pyyaml cffconvert >/dev/null || skip "no pre-commit from PyPI"
tools=$PWD/build/python/hooks/bin
here=$PWD
version=$(tools/version.sh)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir "$root/bin"
cp build/static/twinsift-x86_64 "$root/bin/twinsift"
export PATH=$root/bin:$PATH PRE_COMMIT_HOME=$root/cache GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
git_here() { git -c user.name=test -c user.email=test@example.org -c init.defaultBranch=main "$@"; }

# ---- pre-commit: the hook from a repository that has what this tree has

mkdir "$root/hooks"
cp -r .pre-commit-hooks.yaml packaging "$root/hooks/"
(cd "$root/hooks" && git_here init -q && git_here add -A && git_here commit -qm hooks)
mkdir "$root/data"
cat >"$root/data/.pre-commit-config.yaml" <<END
repos:
  - repo: $root/hooks
    rev: $(git -C "$root/hooks" rev-parse HEAD)
    hooks:
      - id: no-near-duplicates
        args: [--threshold, "0.9"]
END
sed -n '2p;4p' samples/articles.jsonl >"$root/data/good.jsonl"
(cd "$root/data" && git_here init -q && git_here add -A)
check "the definition of the hook" "$tools/pre-commit" validate-manifest .pre-commit-hooks.yaml
check "a data set without near-duplicates" sh -c "cd '$root/data' && '$tools/pre-commit' run --all-files"
(cd "$root/data" && cp "$here/samples/articles.jsonl" bad.jsonl && git_here add -A)
check "a data set with near-duplicates" sh -c "cd '$root/data' && ! '$tools/pre-commit' run --all-files >out && grep -q 'a1.a3.1.0000' out"

# ---- the action: its one step, with the inputs as environment

mkdir "$root/url" "$root/twinsift-$version-linux-$(uname -m)"
cp "$root/bin/twinsift" "$root/twinsift-$version-linux-$(uname -m)/"
tar -C "$root" -cJf "$root/url/twinsift-$version-linux-$(uname -m).tar.xz" "twinsift-$version-linux-$(uname -m)"
(cd "$root/url" && sha256sum -- * >"$root/sums" && mv "$root/sums" SHA256SUMS)
"$tools/python" -c 'import sys, yaml; print(yaml.safe_load(open("packaging/action/action.yml"))["runs"]["steps"][0]["run"])' >"$root/step"
action()
{
    INPUT_PATHS=$1 INPUT_OPTIONS='--threshold 0.9' INPUT_VERSION=$version INPUT_URL=file://$root/url \
        ACTION=$here/packaging/action bash "$root/step"
}
refuses() { ! action "$@"; }
check "the action, without near-duplicates" action "$root/data/good.jsonl"
check "the action, with near-duplicates" refuses samples/articles.jsonl
sed -i 's/^./0/' "$root/url/SHA256SUMS"
check "the action, with another checksum" refuses "$root/data/good.jsonl"
check "the workflow is YAML" "$tools/python" -c 'import yaml; assert yaml.safe_load(open(".github/workflows/ci.yml"))["jobs"]'
check "the citation" "$tools/cffconvert" --validate -i CITATION.cff
finish
