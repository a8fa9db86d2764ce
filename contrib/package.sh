#!/usr/bin/env bash
# The binary to give away, with completions and manual pages, in target/package; a Debian package and a static
# binary where the tools for them are there:
#
#     contrib/package.sh              all that can be made here; what cannot is said aloud
#     cargo install cargo-deb         what the Debian package needs
#     rustup target add x86_64-unknown-linux-musl    what the static binary needs, with a C compiler for musl
set -euo pipefail
cd "$(dirname "$0")/.."
out=target/package
rm -rf "$out"
mkdir -p "$out/completions" "$out/man"

cargo build --profile ship --locked --package skyhaul-cli
binary=target/ship/skyhaul
cp "$binary" "$out/"
"$binary" man --dir "$out/man"
"$binary" completions bash >"$out/completions/skyhaul.bash"
"$binary" completions zsh >"$out/completions/_skyhaul"
"$binary" completions fish >"$out/completions/skyhaul.fish"

if command -v cargo-deb >/dev/null; then
    cargo deb --package skyhaul-cli --profile ship --no-build --no-strip --output "$out/"
else
    echo "package: no cargo-deb: no Debian package was made" >&2
fi

target=$(rustc -vV | sed -n 's/^host: \(.*\)-gnu$/\1-musl/p')
if [ -n "$target" ] && [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ] && command -v musl-gcc >/dev/null; then
    cargo build --profile ship --locked --package skyhaul-cli --target "$target"
    cp "target/$target/ship/skyhaul" "$out/skyhaul-static"
else
    echo "package: no target ${target:-for musl} or no musl-gcc: no static binary was made" >&2
fi
ls -l "$out"
