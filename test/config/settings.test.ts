import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { getCountries } from 'libphonenumber-js'
import { parse } from 'smol-toml'
import t, { type Test } from 'tap'
import { isRegion } from '../../src/config/countries.js'
import {
  environmentName,
  loadConfig,
  passwordOf,
  type Section,
  type Setting,
  settingName,
  settings,
} from '../../src/config/index.js'
import { makeTempDir } from '../support/store.js'

const example = readFileSync('config/posthorn.example.toml', 'utf8')
// A commented setting at the start of a line; the examples within explanations are indented.
const commented = /^# ([a-z_-]+ = .+)$/gm
const uncommented = example.replaceAll(commented, '$1')

const isSetting = (entry: Setting<unknown> | Section): entry is Setting<unknown> =>
  entry.kind === 'setting'

function pathsOf(section: Section, path: string[] = []): string[][] {
  return Object.entries(section).flatMap(([name, entry]) =>
    isSetting(entry) ? [[...path, name]] : pathsOf(entry, [...path, name]),
  )
}

const allPaths = pathsOf(settings)

function load(t: Test, toml: string, env: Record<string, string> = {}) {
  const file = join(makeTempDir(t), 'posthorn.toml')
  writeFileSync(file, toml)
  return { file, config: () => loadConfig({ file, env }) }
}

/** The message of the refusal; fails when there is none. */
function refusal(t: Test, toml: string, env: Record<string, string> = {}): string {
  const { config } = load(t, toml, env)
  try {
    config()
  } catch (error) {
    t.equal(error instanceof Error && error.name, 'OperatorError')
    return error instanceof Error ? error.message : ''
  }
  t.fail(`taken: ${toml} ${JSON.stringify(env)}`)
  return ''
}

const at = (values: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((inner, name) => (inner as Record<string, unknown>)[name], values)

t.test('the example has every setting, and no other', async (t) => {
  const given: unknown = parse(uncommented)
  const inFile = (function namesIn(table: unknown, path: string): string[] {
    // An empty table is a value here: `static = {}`.
    if (typeof table !== 'object' || table === null || Array.isArray(table)) return [path]
    const entries = Object.entries(table)
    if (entries.length === 0) return [path]
    return entries.flatMap(([name, inner]) => namesIn(inner, path ? `${path}.${name}` : name))
  })(given, '')
  t.same(inFile.sort(), allPaths.map(settingName).sort())
  t.equal(example.match(commented)?.length, allPaths.length, 'each once')
})

t.test('the example shows the defaults', async (t) => {
  const defaults = loadConfig({ env: {} })
  t.same(load(t, example).config(), defaults, 'as it is it changes nothing')
  const shown = load(t, uncommented).config()
  for (const path of allPaths) {
    // This one follows the machine.
    if (settingName(path) === 'outbound.threads') continue
    t.same(at(shown, path), at(defaults, path), settingName(path))
  }
})

t.test('the example explains every setting and names every limit', async (t) => {
  for (const block of example
    .trimEnd()
    .split('\n\n')
    .filter((text) => text.match(commented))) {
    const lines = block.split('\n').filter((line) => !line.startsWith('['))
    t.equal(block.match(commented)?.length, 1, `one setting a paragraph:\n${block}`)
    t.match(lines[0], /^# [A-Z0-9"]/, `an explanation first:\n${block}`)
    t.match(lines.at(-1), /^# [a-z_-]+ = /)
  }
})

t.test('every setting can come from the environment, by a name of its own', async (t) => {
  const names = allPaths.map(environmentName)
  t.equal(new Set(names).size, names.length)
  t.equal(environmentName(['http', 'rateLimit', 'requests']), 'POSTHORN_HTTP_RATE_LIMIT_REQUESTS')
  const env = {
    POSTHORN_LOG_LEVEL: 'debug',
    POSTHORN_HTTP_PRIVATE_PORT: '9090',
    POSTHORN_HTTP_TRUSTED_PROXIES: '192.0.2.1, 2001:db8::1',
    POSTHORN_DNS_TIMEOUT: '2s',
    POSTHORN_OUTBOUND_ALLOW_PRIVATE_ADDRESSES: 'true',
    POSTHORN_OUTBOUND_RETRY_CAMPAIGN_SCHEDULE: '1m,2h',
  }
  const { config } = load(t, '[http.private]\nport = 1\n[log]\nformat = "json"', env)
  t.match(config(), {
    log: { level: 'debug', format: 'json' },
    http: { private: { port: 9090 }, trustedProxies: ['192.0.2.1', '2001:db8::1'] },
    dns: { timeout: 2_000 },
    outbound: {
      allowPrivateAddresses: true,
      retry: { campaign: { schedule: [60_000, 7_200_000] } },
    },
  })
})

const badValues: [name: string, toml: string, expected: string][] = [
  ['jobs.zone', '"Mars/Base"', 'a time zone'],
  ['jobs.optimize', '"61 3 * * *"', 'a cron expression of five fields'],
  ['jobs.optimize', '"0 0 30 2 *"', 'is never due'],
  ['jobs.optimize', '"*/5 * * * *"', 'never twice within 10 minutes'],
  ['jobs.optimize', '"0 0 3 * * *"', '"off"'],
  ['jobs.optimize', 'false', '"off"'],
  ['log.level', '"loud"', 'debug, info, warn or error'],
  ['log.level', '3', 'debug, info, warn or error'],
  ['http.private.host', '""', 'an IP address'],
  ['http.private.host', '"a b"', 'an IP address'],
  ['http.private.host', '"nohost"', 'an IP address'],
  ['http.private.port', '65536', 'a whole number from 0 to 65535'],
  ['http.private.port', '-1', 'a whole number from 0 to 65535'],
  ['http.private.port', '80.5', 'a whole number from 0 to 65535'],
  ['http.private.port', '"http"', 'a whole number from 0 to 65535'],
  ['http.private.port', 'true', 'a whole number from 0 to 65535'],
  ['http.private.port', '2026-11-21', 'a whole number from 0 to 65535'],
  ['http.private.allowed_hosts', '[1]', 'a list of host names'],
  ['http.public.url', '"mail.example.com"', 'a URL such as "https://mail.example.com", no path'],
  ['http.public.url', '"https://mail.example.com/x"', 'no path'],
  ['http.private.allowed_hosts', '["https://mail.example.com"]', 'a list of host names'],
  ['http.private.allowed_hosts', '["mail.example.com:8080"]', 'a list of host names'],
  ['http.trusted_proxies', '["10.0.0.0/33"]', 'a list of IP addresses and networks'],
  ['http.trusted_proxies', '["proxy.lan"]', 'a list of IP addresses and networks'],
  ['contacts.default_country', '"UK"', 'a country code'],
  ['contacts.default_country', '"ZZ"', 'a country code'],
  ['outbound.helo_name', '"192.0.2.1"', 'a host name, not an address'],
  ['outbound.helo_name', '"mail.example.1"', 'a host name, not an address'],
  ['backup.hook', '"rclone copy {file} far:backups"', 'a command line in one text given'],
  ['backup.hook', '["rclone copy {file} far:backups"]', 'each a text of its own'],
  ['backup.hook', '["/usr/bin/rclone copy {file} far:backups"]', 'each a text of its own'],
  ['operator.command', '"/usr/bin/notify --all"', 'the absolute path of a program, and'],
  ['http.shutdown_grace', '10', 'a duration from 0s to 5m, such as "10s"'],
  ['http.shutdown_grace', '"6m"', 'a duration from 0s to 5m'],
  ['http.shutdown_grace', '"1 m"', 'a duration from 0s to 5m'],
  ['http.shutdown_grace', '"-1s"', 'a duration from 0s to 5m'],
  ['http.rate_limit.requests', '-1', 'a whole number from 0 to 1000000000'],
  ['http.rate_limit.window', '"0s"', 'a duration from 1s to 1h'],
  ['protection.bounces.warn', '"0%"', 'a percentage from 0.0001% to 100%, such as "5%"'],
  ['protection.bounces.pause', '"100.1%"', 'a percentage from 0.0001% to 100%'],
  ['protection.complaints.warn', '0.1', 'a percentage from 0.0001% to 100%, such as "0.1%"'],
  ['protection.complaints.warn', '"0.00001%"', 'a percentage from 0.0001% to 100%'],
  ['operator.notify', '"Ops <ops@example.com>"', 'an address such as "postmaster@example.com"'],
  ['dns.servers', '["dns.example"]', 'a list of IP addresses, with an optional :port'],
  ['dns.servers', '["192.0.2.1:99999"]', 'a list of IP addresses, with an optional :port'],
  ['dns.static', '"x"', 'a table of names, each with lists a, aaaa, txt, ptr, or mx'],
  ['dns.static', '{ "a.test" = { mx = ["mx.test"] } }', 'mx = [{ preference = 10, exchange ='],
  ['dns.static', '{ "a.test" = { a = ["::1"] } }', 'a table of names'],
  ['dns.static', '{ "a.test" = { ns = ["ns.test"] } }', 'a table of names'],
  ['dns.static', '{ "a.test" = "192.0.2.1" }', 'a table of names'],
  ['outbound.route', '"smarthost"', 'direct or sandbox'],
  ['outbound.threads', '9', 'a whole number from 1 to 8'],
  ['outbound.helo_name', '""', 'a host name'],
  ['outbound.helo_name', '"mail_1.example.com"', 'a host name'],
  ['outbound.helo_name', '"a\\r\\nb"', 'a host name'],
  ['outbound.return_path_host', '"-x"', 'a host name, or nothing'],
  ['outbound.source_addresses', '["256.1.1.1"]', 'a list of IP addresses'],
  ['outbound.source_addresses', '["", "192.0.2.1"]', 'a list of IP addresses'],
  ['outbound.ip_family', '"ipv5"', 'both, ipv4 or ipv6'],
  ['outbound.allow_private_addresses', '1', 'true or false'],
  ['outbound.allow_private_addresses', '"yes"', 'true or false'],
  ['outbound.max_connections', '0', 'a whole number from 1 to 20000'],
  ['outbound.retry.campaign.schedule', '[]', 'a list of durations of at least 1s'],
  ['outbound.retry.campaign.schedule', '["5m", "soon"]', 'a list of durations'],
  ['outbound.retry.campaign.schedule', '["500ms"]', 'a list of durations of at least 1s'],
  ['dns.validating_resolver', '"localhost"', 'an address such as "127.0.0.1:53"'],
  ['dns.validating_resolver', '["127.0.0.1"]', 'an address such as "127.0.0.1:53"'],
  ['outbound.tls.dane', '"maybe"', 'true or false'],
  ['outbound.tls.domains', '{ "a.test" = "always" }', 'each "off", "opportunistic", "require" or'],
  ['outbound.tls.domains', '{ "a.*.test" = "off" }', 'a table of domains'],
  ['outbound.tls.domains', '{ "you@a.test" = "off" }', 'a table of domains'],
  ['outbound.tls.domains', '["a.test"]', 'a table of domains'],
  ['outbound.retry.campaign.max_age', '"31d"', 'a duration from 1m to 30d'],
  ['outbound.pools', '[1]', 'it to be a table'],
  ['outbound.pools', '{ "A B" = {} }', 'the name "A B" to be 1 to 32 of a-z'],
  ['outbound.pools', '{ a = {} }', 'a.sources to be a list of at least one address'],
  [
    'outbound.pools',
    '{ a = { source = [] } }',
    'a.source to be one of sources, classes, accounts, when_away',
  ],
  ...[
    ['{ addresses = ["192.0.2.1", "192.0.2.2"] }', 'a.sources[0].addresses to be an IPv4 address'],
    ['{ addresses = ["mx.test"] }', 'a.sources[0].addresses to be a list of IP addresses'],
    ['{ addresses = ["192.0.2.1"], weight = 11 }', 'a.sources[0].weight to be a whole number'],
    [
      '{ addresses = ["192.0.2.1"], helo_name = "a b" }',
      'a.sources[0].helo_name to be a host name',
    ],
  ].map(([source, expected = '']): (typeof badValues)[number] => [
    'outbound.pools',
    `{ a = { sources = [${source}] } }`,
    expected,
  ]),
  ...[
    ['classes = ["bulk"]', 'a.classes to be a list of "transactional", "automation", "campaign"'],
    ['accounts = ["shop"]', "a.accounts to be a list of accounts' ids"],
  ].map(([own, expected = '']): (typeof badValues)[number] => [
    'outbound.pools',
    `{ a = { sources = [{ addresses = ["192.0.2.1"] }], ${own} } }`,
    expected,
  ]),
  [
    'outbound.pools',
    '{ a = { sources = [{ addresses = ["192.0.2.1"] }] }, b = { sources = [{ addresses = ["192.0.2.1"] }] } }',
    'the address 192.0.2.1 to be in one pool, not in a and b',
  ],
  ['sandbox.keep_messages', '0', 'a whole number from 1 to 100000'],
]

t.test('a bad value is refused by name, with the value and what was expected', async (t) => {
  for (const [name, value, expected] of badValues) {
    const message = refusal(t, `${name} = ${value}`)
    t.ok(message.includes(`\n  ${name}: `), `${name} = ${value}: ${message}`)
    t.match(message, / given, expected /)
    t.ok(message.includes(expected), `${message} says ${expected}`)
  }
})

t.test('DANE is refused without a resolver that checks DNSSEC', async (t) => {
  const above = 'protection.bounces = { warn = "11%" }'
  t.match(refusal(t, above), 'protection.bounces.warn is above its pause')
  const dane = 'outbound.tls.dane = true'
  t.match(refusal(t, dane), 'outbound.tls.dane needs dns.validating_resolver')
  for (const server of ['127.0.0.1', '127.0.0.1:5353', '[::1]:53', '::1']) {
    const { config } = load(t, `${dane}\ndns.validating_resolver = "${server}"`)
    t.equal(config().dns.validatingResolver, server)
  }
})

t.test('what is said of domains is read as it stands', async (t) => {
  const domains = {
    'a.test': 'verify',
    '*.a.test': 'require',
    '*': 'opportunistic',
    'b.test': 'off',
  }
  const lines = Object.entries(domains).map(([name, choice]) => `"${name}" = "${choice}"`)
  const { config } = load(t, ['[outbound.tls.domains]', ...lines].join('\n'))
  t.same(config().outbound.tls.domains, domains)
})

t.test('smart hosts are read in order, each with the port of its kind of TLS', async (t) => {
  const { config } = load(
    t,
    `
[[outbound.failover.smart_hosts]]
host = "smtp.example.net"
user = "posthorn"
password_env = "SECRET"
[[outbound.failover.smart_hosts]]
host = "192.0.2.1"
tls = "implicit"
source_addresses = ["192.0.2.25"]
connections = 2
[[outbound.failover.smart_hosts]]
host = "relay.internal"
tls = "off"
port = 2525`,
  )
  const [first, second, third] = config().outbound.failover.smartHosts
  t.match(first, { host: 'smtp.example.net', port: 587, tls: 'starttls', user: 'posthorn' })
  t.match(first, { passwordEnv: 'SECRET', connections: 10, messagesPerMinute: 6_000 })
  t.match(second, { host: '192.0.2.1', port: 465, tls: 'implicit', connections: 2, user: '' })
  t.same(second?.sourceAddresses, ['192.0.2.25'])
  t.match(third, { port: 2525, tls: 'off' })
})

t.test('a smart host is refused with what is wrong, and no password is shown', async (t) => {
  const cases: [lines: string, expected: RegExp][] = [
    ['host = "smtp example"', /a host name or an IP address as host of smart host 1/],
    ['port = 25', /a host for smart host 1/],
    ['host = "a.test"\ntls = "none"', /starttls, implicit or off as tls/],
    ['host = "a.test"\nuser = "u"', /either password_file or password_env with the user/],
    ['host = "a.test"\npassword_env = "P"', /a user with the password/],
    [
      'host = "a.test"\nuser = "u"\npassword_env = "P"\ntls = "off"',
      /TLS for smart host 1: a password never goes in the clear/,
    ],
    ['host = "a.test"\npassword = "hunter2"', /password_file or password_env, never password/],
    [
      'host = "a.test"\nsource_addresses = ["192.0.2.1", "192.0.2.2"]',
      /one IPv4 and one IPv6 address at most as source_addresses of smart host 1/,
    ],
    ['host = "a.test"\nsource_addresses = ["here"]', /a list of IP addresses as source_addr/],
    ['host = "a.test"\nhots = "b"', /no hots in smart host 1 \(known: host, port, tls/],
  ]
  for (const [lines, expected] of cases) {
    const said = refusal(t, `[[outbound.failover.smart_hosts]]\n${lines}`)
    t.match(said, /outbound\.failover\.smart_hosts: .* given, expected/)
    t.match(said, expected)
    t.notMatch(said, /hunter2/)
  }
})

t.test('a password comes from its file or the environment, read each time', async (t) => {
  const file = join(makeTempDir(t), 'password')
  const inFile = { host: 'a.test', passwordFile: file, passwordEnv: '' }
  t.throws(() => passwordOf(inFile, {}), {
    message: /Cannot read the password for a\.test: .*ENOENT/,
  })
  writeFileSync(file, 'one\n')
  t.equal(passwordOf(inFile, {}), 'one')
  writeFileSync(file, ' two words ')
  t.equal(passwordOf(inFile, {}), ' two words ')
  writeFileSync(file, '\n')
  t.throws(() => passwordOf(inFile, {}), { message: /is empty/ })
  const inEnv = { host: 'a.test', passwordFile: '', passwordEnv: 'SECRET' }
  t.equal(passwordOf(inEnv, { SECRET: 'three' }), 'three')
  t.throws(() => passwordOf(inEnv, {}), { message: /SECRET is not in the environment/ })
})

t.test('two listeners on one port are refused', async (t) => {
  const same = 'http.private.port = 8080\nhttp.public = { host = "127.0.0.1", port = 8080 }'
  t.match(refusal(t, same), /http\.private and http\.public are both 127\.0\.0\.1 port 8080/)
})

t.test('a bad value in the environment is refused by the variable’s name', async (t) => {
  const message = refusal(t, '[http.private]\nport = 1\n', {
    POSTHORN_HTTP_PRIVATE_PORT: '80a',
    POSTHORN_LOG_LEVEL: '',
  })
  t.notMatch(message, /line/, 'a value from the environment has no line in the file')
  t.match(message, 'POSTHORN_HTTP_PRIVATE_PORT (http.private.port): "80a" given, expected a whole')
  t.match(message, 'POSTHORN_LOG_LEVEL (log.level): "" given, expected debug, info')
})

t.test('all problems are told at once, unknown names with the known ones', async (t) => {
  const toml =
    'prot = 1\n[log]\nlevle = "info"\n[http.private]\nport = "x"\n[outbound]\nthreads = 0'
  const message = refusal(t, toml)
  t.equal(message.split('\n').length, 5, message)
  t.match(
    message,
    /\n {2}prot: no such setting; known here: log, http, key_file, dashboard, dns, outbound, .*sandbox \(line 1\)$/m,
  )
  t.match(
    message,
    '\n  log.levle: no such setting; is log.level meant? known here: level, format (line 3)',
  )
  t.match(message, '\n  http.private.port: "x" given')
  t.match(message, '\n  outbound.threads: 0 given')
  t.match(
    refusal(t, 'heloName = "x"\n[outbound]\nheloName = "x"'),
    'outbound.heloName: no such setting; is outbound.helo_name meant?',
  )
  t.match(
    refusal(t, 'http = 1\nlog = []'),
    'log: expected a table [log] (line 2)\n  http: expected a table [http] (line 1)',
  )
})

t.test('a file that is no TOML is refused with its name and the line', async (t) => {
  const { file, config } = load(t, '[log]\nlevel = "info"\n[http\nport = 1\n')
  t.throws(config, { message: new RegExp(`^${file} is not valid TOML: [^]*\\n3:`) })
  for (const toml of ['port = 1\nport = 2', 'a = "open', '= 1', '\u0000']) {
    t.match(refusal(t, toml), ' is not valid TOML: ')
  }
  t.throws(() => loadConfig({ file: `${file}.absent`, env: {} }), {
    message: /^Cannot read the configuration .*\.absent: ENOENT/,
  })
})

t.test('a certificate for inbound mail comes with its key', async (t) => {
  const { config } = load(t, '[inbound.tls]\ncertificate = "/etc/posthorn/tls.crt"')
  t.throws(config, { message: 'inbound.tls needs both files, certificate and key' })
})

t.test('TLS of the HTTP listeners comes with what it needs', (t) => {
  const on = '[http.public.tls]\nenabled = true\n'
  const files = 'certificate = "/etc/a.pem"\nkey = "/etc/a.key"\n'
  const url = '[http.public]\nurl = "https://links.example.com"\n'
  const refused = [
    [on, /http.public.tls.enabled needs a certificate: .*tls.acme/],
    [`${on}certificate = "/etc/a.pem"`, /http.public.tls needs both files/],
    ['[http.private.tls]\nkey = "/etc/a.key"', /http.private.tls needs both files/],
    ['[http.private.tls]\nenabled = true', /http.private.tls.enabled needs a certificate/],
    [`${on}${files}`, /needs http.public.url/],
    [`[http.public]\nurl = "http://links.example.com"\n${on}${files}`, /needs http.public.url/],
    [
      `[http.public]\nport = 443\nurl = "https://links.example.com"\n${on}${files}`,
      /http.public and http.public.tls are both 0.0.0.0 port 443/,
    ],
  ] as const
  for (const [text, message] of refused) t.throws(load(t, text).config, { message }, text)
  t.equal(load(t, `${url}${on}${files}`).config().http.public.tls.port, 443)
  t.equal(
    load(t, `${url}${on}[tls]\nacme = true\nagree_to_terms = true`).config().http.public.tls
      .enabled,
    true,
  )
  t.equal(load(t, `${on.replace('true', 'false')}`).config().http.public.tls.enabled, false)
  t.end()
})

t.test('bodies may go as soon as they have served, without another setting', (t) => {
  const env = { POSTHORN_RETENTION_BODIES: '0d' }
  t.equal(loadConfig({ env }).retention.bodies, 0)
  t.end()
})

t.test('listeners that want the same port are refused, whatever address the one names', (t) => {
  const bad = (env: Record<string, string>) =>
    t.throws(() => loadConfig({ env }), { message: /one needs another port/ }, JSON.stringify(env))
  const http = { POSTHORN_HTTP_PRIVATE_PORT: '9000', POSTHORN_HTTP_PUBLIC_PORT: '9000' }
  for (const [own, others] of [
    ['127.0.0.1', '0.0.0.0'],
    ['0.0.0.0', '127.0.0.1'],
    ['localhost', '127.0.0.1'],
    ['::1', '::'],
    ['127.0.0.1', '::'],
  ] as const) {
    bad({ ...http, POSTHORN_HTTP_PRIVATE_HOST: own, POSTHORN_HTTP_PUBLIC_HOST: others })
  }
  bad({ POSTHORN_INBOUND_PORT: '8080', POSTHORN_INBOUND_HOST: '0.0.0.0' })
  const apart = { POSTHORN_HTTP_PRIVATE_HOST: '127.0.0.1', POSTHORN_HTTP_PUBLIC_HOST: '127.0.0.2' }
  t.equal(loadConfig({ env: { ...http, ...apart } }).http.public.port, 9000)
  t.equal(
    loadConfig({ env: { POSTHORN_HTTP_PRIVATE_PORT: '0', POSTHORN_HTTP_PUBLIC_PORT: '0' } }).http
      .public.port,
    0,
  )
  t.end()
})

t.test('networks are proxies too, and every region of phone numbers is a country', (t) => {
  const env = {
    POSTHORN_HTTP_TRUSTED_PROXIES: '10.0.0.0/8,192.0.2.1,2001:db8::/32',
    POSTHORN_BACKUP_HOOK: '/opt/my tools/copy',
  }
  const { http, backup } = loadConfig({ env })
  t.same(http.trustedProxies, ['10.0.0.0/8', '192.0.2.1', '2001:db8::/32'])
  t.same(backup.hook, ['/opt/my tools/copy'])
  for (const code of getCountries()) {
    t.equal(
      loadConfig({ env: { POSTHORN_CONTACTS_DEFAULT_COUNTRY: code } }).contacts.defaultCountry,
      code,
    )
  }
  t.notOk(isRegion('UK'))
  t.equal(getCountries().filter(isRegion).length, getCountries().length)
  t.end()
})
