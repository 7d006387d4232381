import { messageOf, systemCode } from '../../errors/index.js'

/** What to do where no server was reached, or TLS refused it (the codes are Node's and OpenSSL's). Begins in lower case. */
export function adviceOnTheWay(error: unknown): string {
  const code = systemCode(error)
  if (error instanceof Error && 'path' in error && 'syscall' in error && error.syscall === 'open') {
    return 'sslrootcert, sslcert and sslkey of store.url have to be files (PEM) that this user may read'
  }
  const known = advice.find(([pattern]) => pattern.test(code) || pattern.test(messageOf(error)))
  return known?.[1] ?? 'see whether it runs, and whether this machine reaches it'
}

const advice: readonly (readonly [RegExp, string])[] = [
  [
    /^(UNABLE_TO_(GET|VERIFY)|SELF_SIGNED_CERT|DEPTH_ZERO_SELF_SIGNED|CERT_(UNTRUSTED|SIGNATURE))/,
    'its certificate is of no CA that is known here: name the file of its CA as sslrootcert in store.url',
  ],
  [
    /^(CERT_HAS_EXPIRED|CERT_NOT_YET_VALID)$/,
    "renew the server's certificate and reload the server, or see to the clock of this machine",
  ],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    'name it in store.url as its certificate does, or give it a certificate for this name',
  ],
  [
    /does not support SSL/,
    'switch ssl on in its postgresql.conf; sslmode=disable is for a server on this machine or behind a tunnel',
  ],
]
