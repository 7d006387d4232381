// `host mx.example[192.0.2.1] said: 550 …`, `Remote server returned … -> 550 …`,
// `refused to talk to me: 421 …`, `returned '550 …`, `responded with: 550 …`, and Gmail's own heading.
const quoting =
  /(?:\bsaid:|->|\btalk to me:|\breturned:?|\bresponded(?: with)?:|\bresponse was:|\breplied:)[ \t]*['"<(]?(?=[45]\d\d(?:[ -]|: ))|\bTechnical details of (?:temporary|permanent) failure:[ \t]*/g

// What qmail and OpenSMTPD add for the reader: the next steps do not explain the failure.
const closing =
  / (?:I'm not going to try again;|Giving up on [\d.:a-f]+\.|Please note that this is only a temporary failure report)/i

// Gateways of Cisco and Amazon: `5.1.0 - Unknown address error 550-'5.7.1 …' (delivery attempts: 0)`.
const wrapped =
  /(?:^|\s)[45]\.\d\.\d - [A-Za-z() ]{3,60} ([45]\d\d)-'(.*?)'?(?: \(delivery attempts: \d+\))?$/s

/**
 * The words of the last server in the chain, without those that gateways wrote around them. A
 * gateway's own words are a guess: it writes `Unknown address error` even before a refusal of the
 * content.
 */
export function ownReply(diagnostic: string): string {
  const inside = wrapped.exec(diagnostic)
  if (inside !== null) return `${inside[1]} ${inside[2]}`
  let from = 0
  for (const match of diagnostic.matchAll(quoting)) from = match.index + match[0].length
  return withoutClosing(diagnostic.slice(from))
}

/** Without a program's addition for the reader, unless there is nothing else. */
export const withoutClosing = (diagnostic: string) => diagnostic.split(closing, 1)[0] || diagnostic

// Digits at the beginning, or after the opening of a reply; not `timeout after 500 seconds`.
const replyCode =
  /(?<![\d.])([45]\d\d)(?=$|-|: ?| (?!(?:(?:milli)?seconds?|minutes?|hours?|days?|messages?|recipients?|mails?|[kmg]?b|bytes|times)\b))/i

/** The code in a server's words; 0 if there is none. */
export const codeIn = (reply: string): number => Number(replyCode.exec(reply)?.[1] ?? 0)
