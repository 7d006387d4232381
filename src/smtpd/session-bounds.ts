import type { SMTPServer } from 'smtp-server'

/** A session as smtp-server keeps it; all replies go through `send`. */
export type SessionConnection = SMTPServer['connections'] extends Set<infer C> ? C : never

/** Calls `wrap` for each connection before the greeting, for what smtp-server has no option for. */
export function wrapSessions(
  server: SMTPServer,
  wrap: (connection: SessionConnection) => void,
): void {
  const connect = server.connect.bind(server)
  server.connect = (socket, options) => {
    connect(socket, options)
    const added = [...server.connections].find((connection) => connection._socket === socket)
    if (added !== undefined) wrap(added)
  }
}

export interface SessionBounds {
  /** How many commands of a session may be refused, for whatever reason. */
  refused: number
  /** How many replies may come from one mail to the next, good ones too. */
  replies: number
  /** Called when a session is ended because of a bound. */
  ended(): void
}

/** smtp-server limits only unknown commands: a client may be refused, or say NOOP, for as long as it likes. */
export function boundSessions(server: SMTPServer, bounds: SessionBounds): void {
  wrapSessions(server, (connection) => boundReplies(connection, bounds))
}

function boundReplies(connection: SessionConnection, bounds: SessionBounds): void {
  const send = connection.send.bind(connection)
  let refused = 0
  let replies = 0
  let ended = false
  connection.send = (code, data, context) => {
    if (ended) return
    replies = context === 'DATA_OK' ? 0 : replies + 1
    if (code >= 400) refused++
    const tooMany =
      refused > bounds.refused ? 'refused commands' : replies > bounds.replies ? 'commands' : ''
    if (code === 421 || tooMany === '') return send(code, data, context)
    ended = true
    bounds.ended()
    send(421, `4.7.0 Too many ${tooMany}`, false)
  }
}
