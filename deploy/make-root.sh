#!/bin/sh
# Writes the root file system of the image: the C library, the certificates of authorities, and the folder for data.
# Needs mmdebstrap (Debian, Ubuntu). Arguments after the file go to mmdebstrap, such as a mirror.
set -eu
file=$1
shift
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-0}
export SOURCE_DATE_EPOCH
mmdebstrap --mode=auto --variant=extract --include=base-files,libc6,libgcc-s1,ca-certificates \
  --customize-hook='mkdir -p "$1/data" "$1/etc/ssl/certs"' \
  --customize-hook='chown 10001:10001 "$1/data" && chmod 700 "$1/data"' \
  --customize-hook='cat "$1"/usr/share/ca-certificates/mozilla/*.crt > "$1/etc/ssl/certs/ca-certificates.crt"' \
  --customize-hook='echo "tollgate:x:10001:10001::/data:/usr/sbin/nologin" > "$1/etc/passwd"' \
  --customize-hook='echo "tollgate:x:10001:" > "$1/etc/group"' \
  --customize-hook='rm -rf "$1"/var/lib/apt "$1"/var/cache "$1"/var/log "$1"/usr/share/doc "$1"/usr/share/man "$1"/usr/share/locale' \
  bookworm "$file" "$@"
