/*
 * Not @zootools/email-spell-checker, which asks about gmx.net, yahoo.com.ng and every address in .ng: here nobody is asked
 * but for a domain that is one slip away from one of these.
 */
const usual =
  'gmail.com googlemail.com yahoo.com yahoo.co.uk yahoo.com.ng yahoo.fr yahoo.com.br ymail.com hotmail.com hotmail.co.uk hotmail.fr hotmail.de outlook.com outlook.fr outlook.de outlook.es live.com live.fr msn.com icloud.com me.com aol.com proton.me protonmail.com gmx.de gmx.net gmx.com web.de t-online.de freenet.de orange.fr wanadoo.fr laposte.net free.fr sfr.fr uol.com.br bol.com.br terra.com.br mail.com mail.ru yandex.ru zoho.com'.split(
    ' ',
  )
// Shorter ones are one slip away from too much that is right.
const leastLength = 7

/** The address that was meant, if its domain is one slip away from a usual one: `gmial.com`, `gmail.con`. */
export function likelyMeant(email: string): string | undefined {
  const at = email.lastIndexOf('@')
  const domain = email.slice(at + 1).toLowerCase()
  if (at < 1 || usual.includes(domain)) return undefined
  const meant = usual.find((one) => one.length >= leastLength && isOneSlip(domain, one))
  return meant && `${email.slice(0, at)}@${meant}`
}

/** Whether a letter too many, one too few, another one or two that changed places make the one of the other. */
function isOneSlip(typed: string, meant: string): boolean {
  if (Math.abs(typed.length - meant.length) > 1) return false
  let first = 0
  while (first < typed.length && typed[first] === meant[first]) first++
  const [rest, other] = [typed.slice(first), meant.slice(first)]
  return (
    rest.slice(1) === other ||
    rest === other.slice(1) ||
    rest.slice(1) === other.slice(1) ||
    (rest[0] === other[1] && rest[1] === other[0] && rest.slice(2) === other.slice(2))
  )
}
