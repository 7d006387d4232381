import type { SMTPServer } from 'smtp-server'
import { canonicalLocal } from '../mime/index.js'
import { wrapSessions } from './session-bounds.js'

/**
 * RFC 5321 §4.1.2: a local part may be a quoted string, with spaces, `@`, `<` and `>` in it, all of which smtp-server takes
 * for the end of the address. It is given a word of the same length in its place, and the address gets its shortest form:
 * `"ann"@x` is `ann@x`.
 */
export function takeQuotedLocals(server: SMTPServer): void {
  wrapSessions(server, (connection) => {
    const parse = connection._parseAddressCommand.bind(connection)
    connection._parseAddressCommand = (name, command) => {
      const [, verb = '', quoted = '', rest = ''] = withQuotes.exec(command.toString()) ?? []
      const local = quoted === '' ? undefined : canonicalLocal(quoted)
      if (local === undefined) return parse(name, command)
      const word = 'q'.repeat(quoted.length)
      const parsed = parse(name, `${verb}${word}${rest}`)
      return parsed && { ...parsed, address: local + parsed.address.slice(word.length) }
    }
  })
}

// Behind a source route too (§4.1.1.2). Without controls and what nobody sees, which smtp-server refuses.
const withQuotes =
  /^((?:MAIL FROM|RCPT TO)[ \t]*:[ \t]*<(?:@[^\s:<>"]+:)?)("(?:[^\p{Cc}\p{Cf}"\\]|\\[ -~])*")(@[^\s<>@]+>(?:\s.*)?)$/iu
