/**
 * A thread of its own in front of the HTTP listeners: it ends TLS and removes PROXY headers. The bytes go on to `http/`
 * by a Unix socket. What must hold: a certificate is renewed without cutting anybody off; no client, however hostile,
 * takes the others' places for long or speaks in another's name; handshakes cost the main thread nothing. It knows
 * neither HTTP nor the database. Why not uWS's own TLS: README.md.
 */
export type { RefusedCause } from './front-door.js'
export { openTlsListener, type TlsListener } from './listener.js'
export { makePeerLookup, makePeerTable } from './peers.js'
export { openPlainListener } from './plain-listener.js'
