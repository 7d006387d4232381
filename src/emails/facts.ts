import type { EmailRecord } from './read.js'

/**
 * What a mail was given with, as people read it on its page and in `posthorn email show`: names and values, in the
 * order in which both show them. What it has not is left out.
 */
export function givenFacts(email: EmailRecord): [label: string, value: string][] {
  const facts: [string, string | readonly string[]][] = [
    ['From', email.from],
    ['To', email.to],
    ['Cc', email.cc],
    ['Bcc', email.bcc],
    ['Reply-To', email.replyTo],
    ['Tags', email.tags.map(({ name, value }) => `${name}:${value}`)],
  ]
  return facts.flatMap(([label, given]) => {
    const value = typeof given === 'string' ? given : given.join(', ')
    return value === '' ? [] : [[label, value]]
  })
}
