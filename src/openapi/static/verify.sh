# A shell with openssl, to look at one by hand: sh verify.sh SECRET SIGNATURE < body
secret=$1 header=$2
at=$(printf %s "$header" | sed -n 's/^t=\([0-9]*\),.*/\1/p')
age=$(($(date +%s) - ${at:-0}))
[ "$age" -le 300 ] && [ "$age" -ge -300 ] || exit 1
expected=$({ printf '%s.' "$at"; cat; } | openssl dgst -sha256 -hmac "$secret" -hex | sed 's/.*= *//')
case ",$header," in *",v1=$expected,"*) exit 0 ;; *) exit 1 ;; esac
