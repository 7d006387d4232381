import { OperatorError } from '../errors/index.js'
import { rampDays } from '../outbound/index.js'
import {
  type AnswerReading,
  firstDayInWords,
  guessDomain,
  type MachineGuess,
  readAnswer,
  type SetupAnswers,
  sandboxAnswers,
  unseen,
} from '../setup/index.js'
import { say, styled } from './output.js'
import type { Questions } from './questions.js'

/** Options of `posthorn setup`. A missing one is asked for or guessed. */
export interface SetupOptions {
  hostName?: string
  address?: string
  domain?: string
  operator?: string
  acme?: boolean
  knownSender?: boolean
  account?: string
  sandbox?: boolean
  start: boolean
  yes?: boolean
  dryRun?: boolean
}

/** Where answers come from. */
interface Sources {
  options: SetupOptions
  /** The answers that settings and database already have. */
  known: Partial<SetupAnswers>
  /** The known answers cannot be changed here, as the settings are the operator's own. */
  isFixed: boolean
  guess: MachineGuess
  /** What the DNS says about a host name, for the operator to see. */
  describe: (hostName: string) => Promise<string>
  questions: Questions | undefined
}

// The option for each answer.
const optionOf = {
  hostName: '--host-name',
  addresses: '--address',
  domain: '--domain',
  operator: '--operator',
} as const

type Typed = keyof typeof optionOf

const titles: Readonly<Record<Typed, string>> = {
  hostName: 'Name of this machine, as other mail servers are to know it',
  addresses: 'Its address, as the world sees it; several with commas between',
  domain: 'Domain that you send from',
  operator: 'Your mail address: for what goes wrong, and for postmaster@',
}

const termsUrl = 'https://letsencrypt.org/repository/'

/** The answers from options, existing settings, guesses and the person at the terminal, in that order. */
export async function gatherAnswers(sources: Sources): Promise<SetupAnswers> {
  const { options, questions, guess, known } = sources
  if (options.sandbox)
    return { ...sandboxAnswers, ...(options.domain && { domain: options.domain }) }
  const missing: string[] = []
  const take = async <K extends Typed>(
    name: K,
    given: string | undefined,
    guessed: string,
  ): Promise<SetupAnswers[K]> => {
    const read = readAnswer[name] as (text: string) => AnswerReading<SetupAnswers[K]>
    const standing = known[name]
    if (sources.isFixed && standing !== undefined && name !== 'domain')
      return standing as SetupAnswers[K]
    if (given !== undefined) return must(read(given), optionOf[name])
    const before = standing === undefined ? '' : String(standing)
    if (questions !== undefined) return questions.ask(titles[name], before || guessed, read)
    const chosen = before || (options.yes ? guessed : '')
    if (chosen !== '') return must(read(chosen), optionOf[name])
    missing.push(optionOf[name])
    // Never used: a missing answer is refused below.
    return '' as SetupAnswers[K]
  }
  const hostName = await take('hostName', options.hostName, guess.hostName ?? '')
  if (questions) say(styled('dim', `  ${await sources.describe(hostName)}`))
  if (questions) for (const why of guess.leftOut) say(styled('dim', `  ${why}`))
  const addresses = await take('addresses', options.address, guess.addresses.join(', '))
  if (questions) for (const one of unseen(addresses)) say(styled('yellow', `  ${hidden(one)}`))
  const domain = await take('domain', options.domain, hostName && guessDomain(hostName))
  const operator = await take('operator', options.operator, '')
  const certificates = await takeCertificates(sources, missing)
  if (missing.length > 0) throw missingOptions(missing)
  const isKnownSender = await takeKnownSender(sources)
  return { hostName, addresses, domain, operator, certificates, isKnownSender, route: 'direct' }
}

/** Whether the addresses need no warm-up; they do unless somebody says otherwise. */
async function takeKnownSender({ options, known, isFixed, questions }: Sources): Promise<boolean> {
  const before = known.isKnownSender ?? false
  if (isFixed && known.isKnownSender !== undefined) return before
  if (options.knownSender !== undefined) return options.knownSender
  if (questions === undefined) return before
  const title = `Is its address known as a sender: has mail left from it in the last 30 days?
No, if you do not know: then it warms up over ${rampDays} days of mail.`
  const isKnown = await questions.confirm(title, before)
  if (!isKnown) say(styled('dim', `  ${firstDayInWords()}`))
  return isKnown
}

/** ACME or a proxy. ACME is never guessed, as it means agreeing to terms. */
async function takeCertificates(
  { options, known, isFixed, questions }: Sources,
  missing: string[],
): Promise<SetupAnswers['certificates']> {
  if (isFixed && known.certificates !== undefined) return known.certificates
  if (options.acme !== undefined) return options.acme ? 'acme' : 'proxy'
  if (questions !== undefined) {
    const title = `Get TLS certificates from Let's Encrypt, by ports 80 and 443 of this machine?\nYes agrees to its terms: ${termsUrl}\nNo: a proxy speaks TLS.`
    return (await questions.confirm(title, known.certificates !== 'proxy')) ? 'acme' : 'proxy'
  }
  if (known.certificates !== undefined) return known.certificates
  // Nobody agrees to terms by leaving something out.
  if (!options.yes) missing.push('--acme or --no-acme')
  return 'proxy'
}

const hidden = (address: string) =>
  `${address} is not public: the world cannot see mail come from there`

/** An option is not asked for again: the first wrong one ends a script. */
function must<T>(reading: AnswerReading<T>, option: string): T {
  if ('value' in reading) return reading.value
  throw new OperatorError(`${option}: ${reading.problem}`)
}

/** Names all missing options at once, so that a script is mended in one go. */
const missingOptions = (missing: readonly string[]) =>
  new OperatorError(
    `There is no terminal to ask on, so setup needs ${missing.join(', ')}; --yes takes what it can find out itself`,
  )
