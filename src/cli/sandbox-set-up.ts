import { createAccount, createKey, deleteKey, listAccounts, listKeys } from '../accounts/index.js'
import { applianceKeyFile } from '../app/files.js'
import { setMarketingPlan } from '../billing/index.js'
import { type Config, openApplianceKey } from '../config/index.js'
import { staticResolver } from '../dns/index.js'
import { addDomain, listDomains, verifyDomain } from '../domains/index.js'
import { type CliDeps, withStore } from './database.js'
import type { CommandPlace } from './place.js'
import { plansOf } from './plan.js'

/** Ports that were chosen; the others have their defaults. */
export interface SandboxPorts {
  privatePort: number
  publicPort: number
  smtpPort: number
  inboundPort: number
}

/** What a script needs to send its first mail; `posthorn init --sandbox --json` prints it. */
export interface Sandbox {
  accountId: string
  apiKey: string
  domain: string
  privateUrl: string
  publicUrl: string
  /** The first person opens it; null if somebody can log in already. */
  setupUrl?: string | null
}

// A later run finds by these names what an earlier run made.
const accountName = 'Sandbox'
const keyName = 'sandbox'
const domainName = 'example.test'

/** Settings under which no mail leaves the machine. */
export function sandboxSettings(ports: Partial<SandboxPorts>): string {
  return `# Written by 'posthorn init --sandbox': mail goes only to the built-in inbox.
# All settings: config/posthorn.example.toml

[http.private]
port = ${ports.privatePort ?? 8080}

[http.public]
host = "127.0.0.1"
port = ${ports.publicPort ?? 8081}

[outbound]
route = "sandbox"
helo_name = "localhost"
source_addresses = ["127.0.0.1"]

[inbound]
host = "127.0.0.1"
port = ${ports.inboundPort ?? 2526}

[sandbox]
smtp_port = ${ports.smtpPort ?? 2525}

# Servers of webhooks that run on this machine.
[webhooks]
allow = ["127.0.0.0/8", "::1"]
`
}

/** Whether a file of settings is as `init --sandbox` wrote it, so that nobody's own work is lost with it. */
export function areSandboxSettings(text: string): boolean {
  const ports = [...text.matchAll(/^(?:smtp_)?port = (\d+)$/gm)].map(([, port]) => Number(port))
  const [privatePort = 0, publicPort = 0, inboundPort = 0, smtpPort = 0] = ports
  return text === sandboxSettings({ privatePort, publicPort, inboundPort, smtpPort })
}

/** Account, domain and a new API key in an initialised data directory. */
export function setUpSandbox(
  place: CommandPlace,
  http: Config['http'],
  tell: (line: string) => void,
): Promise<Sandbox> {
  return withStore(place, async (deps) => {
    const accounts = await listAccounts(deps.store.read)
    const there = accounts.find(({ name }) => name === accountName)
    tell(`Account "${accountName}": ${there ? 'exists and is kept' : 'made'}`)
    const { id: accountId } = there ?? (await makeAccount(deps, place))
    tell(`Domain ${domainName}: ${await trustDomain(deps, place, accountId)}`)
    const { apiKey, replaced } = await renewKey(deps, accountId)
    tell(`API key "${keyName}": ${replaced ? 'new, the previous one is deleted' : 'made'}`)
    const { privateUrl, publicUrl } = urlsOf(http)
    return { accountId, apiKey, domain: domainName, privateUrl, publicUrl }
  })
}

/** With the largest marketing plan, so that campaigns can be tried at once. */
async function makeAccount(deps: CliDeps, place: CommandPlace) {
  const marketing = plansOf(place).marketing.at(-1) ?? null
  const account = await createAccount(deps, accountName)
  await deps.store.write((tx) => setMarketingPlan(tx, account.id, marketing))
  return account
}

/** Adds the domain, or makes an existing one count as verified; tells which. */
async function trustDomain(deps: CliDeps, place: CommandPlace, accountId: string): Promise<string> {
  const domains = await listDomains(deps.store.read, accountId)
  const there = domains.find(({ name }) => name === domainName)
  if (there?.trusted) return 'exists and is kept'
  if (there === undefined) {
    const key = openApplianceKey(applianceKeyFile(place.dataDir))
    await addDomain({ ...deps, key }, accountId, domainName, { trust: true })
    return 'made, trusted'
  }
  // Nobody publishes anything below .test (RFC 6761 §6.2), so the DNS is not asked.
  const settings = { heloName: 'localhost', sourceAddresses: [] }
  const resolver = staticResolver({})
  await verifyDomain({ ...deps, resolver, settings }, accountId, domainName, { trust: true })
  return 'is there, now trusted'
}

/** A key cannot be shown again, so each run makes a key and revokes the earlier ones. */
async function renewKey(deps: CliDeps, accountId: string) {
  const previous = (await listKeys(deps.store.read, accountId)).filter(
    ({ name }) => name === keyName,
  )
  const { key } = await createKey(deps, accountId, keyName)
  for (const { id } of previous) await deleteKey(deps, accountId, id)
  return { apiKey: key, replaced: previous.length > 0 }
}

/** Where a program on this machine reaches the listeners. */
export function urlsOf(http: Config['http']) {
  const url = ({ host, port }: { host: string; port: number }) => {
    // These two mean every address of the machine; a client needs a single one.
    const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
    return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
  }
  return { privateUrl: url(http.private), publicUrl: http.public.url || url(http.public) }
}
