import type { SMTPServer } from 'smtp-server'
import { canonicalLocal } from '../mime/index.js'
import { wrapSessions } from './session-bounds.js'

/**
 * RFC 5321 §4.1.2: a local part may be a quoted string, with spaces, `@`, `<` and `>` in it; smtp-server takes all of
 * those for the end of the address. It is given a word of the same length instead, and then the address in its shortest
 * form: `"ann"@x` is `ann@x`.
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

// Also after a source route (§4.1.1.2). Control and invisible characters are left out: smtp-server refuses them.
const withQuotes =
  /^((?:MAIL FROM|RCPT TO)[ \t]*:[ \t]*<(?:@[^\s:<>"]+:)?)("(?:[^\p{Cc}\p{Cf}"\\]|\\[ -~])*")(@[^\s<>@]+>(?:\s.*)?)$/iu
