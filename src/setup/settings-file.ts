import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { type Config, seenSourceAddresses } from '../config/index.js'
import type { SetupAnswers } from './answers.js'

/** `ours`: unchanged since setup wrote it, so setup may write it anew; `theirs`: a person has changed it. */
export type FoundSettings = 'none' | 'ours' | 'theirs'

/** What the file needs beside the answers. */
interface SettingsDeps {
  /** The addresses of all interfaces: mail cannot leave from any other. */
  ownAddresses: readonly string[]
  /** Where every setting is explained. */
  example: string
}

/** The short settings file: the answers, and where the other settings are explained. */
export function settingsText(answers: SetupAnswers, deps: SettingsDeps): string {
  const sections = Object.entries(sectionsOf(answers, deps)).map(
    ([name, lines]) => `[${name}]\n${lines.join('\n')}\n`,
  )
  const body = `# Every other setting has a good default; all of them, each with its why:
# ${deps.example}
# After a change: posthorn config check, then systemctl restart posthorn.

${sections.join('\n')}`
  return `# Written by 'posthorn setup', and yours to change: once it differs from what setup wrote
# (setup knows by this mark: ${markOf(body)}), setup only reads it.
${body}`
}

/** The sections of the file, each with its lines. */
function sectionsOf(answers: SetupAnswers, { ownAddresses }: SettingsDeps) {
  const { hostName, addresses, operator, certificates } = answers
  if (answers.route === 'sandbox') return sandboxSections(answers)
  const bound = boundTo(addresses, ownAddresses)
  const isBound = bound !== undefined
  const hasSix = addresses.some((address) => isIP(address) === 6)
  const sections: Record<string, string[]> = {
    'http.public': [
      '# What the links in mail begin with.',
      `url = ${quoted(`https://${hostName}`)}`,
      ...(certificates === 'proxy'
        ? ['# The proxy that speaks TLS is on this machine.', 'host = "127.0.0.1"']
        : ["# Where Let's Encrypt asks; browsers are sent on to TLS.", 'port = 80']),
      ...(certificates === 'acme' && hasSix ? ['host = "::"'] : []),
    ],
    ...(certificates === 'acme' && { 'http.public.tls': ['enabled = true'] }),
    ...(certificates === 'proxy' && { http: ['trusted_proxies = ["127.0.0.1", "::1"]'] }),
    outbound: [
      '# As this machine greets others; its addresses must lead back to it (PTR).',
      `helo_name = ${quoted(hostName)}`,
      ...(isBound
        ? [
            '# Mail leaves from the first of each family; [outbound.pools] uses more of them.',
            `source_addresses = [${bound.map(quoted).join(', ')}]`,
            ...seenAsLines(bound, addresses),
          ]
        : [
            `${notedBy} ${addresses.join(', ')}`,
            '# which is not on this machine (NAT), and which of its own leads there is not known: outbound.seen_as says it.',
          ]),
      ...(answers.isKnownSender
        ? ['# Receivers know its addresses already, so that nothing waits.', 'warm_up = "off"']
        : []),
    ],
    inbound: [
      ...(hasSix ? ['# IPv4 and IPv6.', 'host = "::"'] : []),
      '# What others write to postmaster@ and abuse@.',
      `forward_to = ${quoted(operator)}`,
    ],
    operator: ['# Who is told when something is wrong.', `notify = ${quoted(operator)}`],
    ...(certificates === 'acme' && {
      tls: [
        "# Certificates from Let's Encrypt, to whose terms you have agreed in setup.",
        'acme = true',
        'agree_to_terms = true',
        `email = ${quoted(operator)}`,
      ],
    }),
  }
  return sections
}

/**
 * The machine's own address for each that the world sees: the same one, or behind 1:1 NAT the only one of its family.
 * Undefined where this is not clear for one of them.
 */
function boundTo(addresses: readonly string[], own: readonly string[]): string[] | undefined {
  const found = addresses.map((address) => {
    if (own.includes(address)) return address
    const [first, ...more] = own.filter((one) => isIP(one) === isIP(address) && !isLocal.test(one))
    return more.length === 0 ? first : undefined
  })
  const isClear = new Set(found).size === found.length
  return isClear && found.every((one) => one !== undefined) ? found : undefined
}

// Loopback (RFC 1122 §3.2.1.3, RFC 4291 §2.5.3) and link-local (RFC 3927, RFC 4291 §2.5.6): no mail leaves from these.
const isLocal = /^(127\.|169\.254\.|::1$|fe[89ab])/i

/** Behind NAT: the addresses for SPF records, PTR and the doctor. */
function seenAsLines(bound: readonly string[], seen: readonly string[]): string[] {
  const pairs = bound.flatMap((own, i) =>
    own === seen[i] ? [] : [`${quoted(own)} = ${quoted(seen[i] ?? own)}`],
  )
  if (pairs.length === 0) return []
  return ['# What the world sees of it (1:1 NAT).', `seen_as = { ${pairs.join(', ')} }`]
}

const seenSources = ({ sourceAddresses, seenAs }: Config['outbound']) =>
  seenSourceAddresses({ sourceAddresses, seenAs })

const sandboxSections = ({ hostName, addresses }: SetupAnswers): Record<string, string[]> => ({
  'http.public': ['host = "127.0.0.1"'],
  outbound: [
    '# Nothing leaves this machine: mail goes to the built-in inbox.',
    'route = "sandbox"',
    `helo_name = ${quoted(hostName)}`,
    `source_addresses = [${addresses.map(quoted).join(', ')}]`,
  ],
  inbound: ['host = "127.0.0.1"', 'port = 2526'],
})

// The next run reads this comment, because no setting has it.
const notedBy = '# The world sees mail come from'

// For the characters of names and addresses, TOML's basic strings are written like JSON's.
const quoted = (text: string) => JSON.stringify(text)

/** Whether there is a file, and whose it is. */
export function foundSettings(file: string): FoundSettings {
  if (!existsSync(file)) return 'none'
  const text = readFileSync(file, 'utf8')
  const [, mark = '', body = ''] =
    /^#.*\n# \(setup knows by this mark: (\w+)\).*\n([\s\S]*)$/.exec(text) ?? []
  return mark === markOf(body) ? 'ours' : 'theirs'
}

/** The hash by which setup knows a file as its own. */
const markOf = (body: string) => createHash('sha256').update(body).digest('hex').slice(0, 16)

const warmUpOf = (isKnownSender: boolean) => (isKnownSender ? 'off' : 'auto')

/** Where the settings in effect differ from the answers, a line each. */
export function settingsDifferences(config: Config, answers: Partial<SetupAnswers>): string[] {
  const { outbound, operator, tls } = config
  const pairs: [setting: string, inEffect: string, answered: string | undefined][] = [
    ['outbound.helo_name', outbound.heloName, answers.hostName],
    ['outbound.source_addresses', seenSources(outbound).join(', '), answers.addresses?.join(', ')],
    ['operator.notify', operator.notify, answers.operator],
    ['tls.acme', String(tls.acme), answers.certificates && String(answers.certificates === 'acme')],
    [
      'outbound.warm_up',
      outbound.warmUp,
      answers.isKnownSender === undefined ? undefined : warmUpOf(answers.isKnownSender),
    ],
    ['outbound.route', outbound.route, answers.route],
  ]
  return pairs
    .filter(([, inEffect, answered]) => answered !== undefined && answered !== inEffect)
    .map(([setting, inEffect, answered]) => `${setting} is "${inEffect}", not "${answered}"`)
}

/** The answers that can be read from the settings in effect and from their file. */
export function answersIn(
  { outbound, operator, tls, http }: Config,
  file: string,
): Partial<SetupAnswers> {
  if (outbound.route === 'sandbox') return { route: 'sandbox' }
  const text = readFileSync(file, 'utf8')
  const noted = text.split('\n').find((line) => line.startsWith(notedBy))
  const natted = noted?.slice(notedBy.length).trim().split(', ') ?? []
  const seen = seenSources(outbound)
  const addresses = seen.length > 0 ? seen : natted
  return {
    ...(outbound.heloName !== 'localhost' && { hostName: outbound.heloName }),
    ...(addresses.length > 0 && { addresses }),
    ...(operator.notify !== '' && { operator: operator.notify }),
    ...(tls.acme
      ? { certificates: 'acme' as const }
      : http.public.url !== '' && { certificates: 'proxy' as const }),
    isKnownSender: outbound.warmUp === 'off',
    route: outbound.route,
  }
}
