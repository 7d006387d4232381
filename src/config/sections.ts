import { isIP } from 'node:net'
import { availableParallelism } from 'node:os'
import { ceilings } from './ceilings.js'
import { isRegion } from './countries.js'
import { dnsSettings, isServer } from './dns.js'
import { isUpdateServer } from './dns-update.js'
import { schedules, timeZone } from './jobs.js'
import { nodeSettings } from './node.js'
import { oidcSettings } from './oidc.js'
import { pools } from './pools.js'
import { seenAsSetting } from './seen-as.js'
import {
  age,
  command,
  duration,
  durations,
  flag,
  integer,
  isNetwork,
  list,
  oneOf,
  percentage,
  port,
  table,
  text,
} from './settings.js'
import { relays, smartHosts } from './smart-hosts.js'
import { storeSettings } from './store.js'
import { listenAt, networks, trustedNetworks } from './submission.js'
import { tlsOfDomains } from './tls-domains.js'

// RFC 1123 §2.1: letters, digits and hyphens, labels of at most 63 and names of at most 253
// characters.
const hostName =
  /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i
const httpUrl = /^$|^https?:\/\/[^\s/?#]+$/

const listenAddress = (fallback: string) =>
  table<string>(
    fallback,
    (value) =>
      typeof value === 'string' && (isIP(value) !== 0 || value === 'localhost') ? value : undefined,
    'an IP address',
  )

// RFC 5321 §4.5.4.1: at least half an hour between attempts in general, but sooner for the first
// ones, which greylisting needs; given up after four or five days. Mail of campaigns is old news
// sooner.
const retry = (maxAge: string) => ({
  schedule: durations(['5m', '10m', '20m', '45m', '90m', '3h', '4h'], '1s'),
  maxAge: duration(maxAge, '1m', '30d'),
})

// A rough look: the address itself is judged where it is used.
const mailAddress = (fallback: string) =>
  text(fallback, {
    pattern: /^$|^[^\s@<>,]{1,64}@[^\s@<>,]{1,253}$/,
    expected: 'an address such as "postmaster@example.com", or nothing',
  })

/**
 * Every setting, its default and what it accepts; `config/posthorn.example.toml` documents each
 * (a test holds the two together). Data that operators edit (plans, shaping) has files of its own.
 */
export const settings = {
  log: {
    level: oneOf('info', ['debug', 'info', 'warn', 'error']),
    format: oneOf('auto', ['auto', 'human', 'json']),
  },
  http: {
    private: {
      host: listenAddress('127.0.0.1'),
      port: port(8080),
      allowedHosts: list([], {
        each: (item) => hostName.test(item) || isIP(item) !== 0,
        expected: 'a list of host names, without https:// and port',
      }),
      operatorApi: flag(false),
      tls: {
        enabled: flag(false),
        certificate: text(''),
        key: text(''),
      },
    },
    public: {
      host: listenAddress('0.0.0.0'),
      port: port(8081),
      url: text('', {
        pattern: httpUrl,
        expected: 'a URL such as "https://mail.example.com", no path',
      }),
      tls: {
        enabled: flag(false),
        port: port(443),
        certificate: text(''),
        key: text(''),
        // RFC 6797: until it is over, browsers refuse the host without TLS. A week is long enough
        // to be of use, and short enough to come back from.
        hsts: duration('7d', '0s', '400d'),
      },
    },
    // The limit of each API key.
    rateLimit: {
      requests: integer(100, 0, 1_000_000_000),
      window: duration('60s', '1s', '1h'),
    },
    trustedProxies: list([], {
      each: isNetwork,
      expected: 'a list of IP addresses and networks, such as "10.0.0.0/8"',
    }),
    proxyProtocolFrom: networks(),
    shutdownNotice: duration('0s', '0s', '30s'),
    shutdownGrace: duration('10s', '0s', '5m'),
  },
  keyFile: {
    // How long links and return paths of before a rotation of the appliance key are understood.
    oldLinks: duration('90d', '0s', '3650d'),
  },
  dashboard: {
    plainHttp: flag(false),
    oidc: oidcSettings,
  },
  dns: dnsSettings,
  outbound: {
    route: oneOf('direct', ['direct', 'sandbox']),
    // One processor is left to the main thread, which clients wait for.
    threads: integer(Math.min(8, Math.max(1, availableParallelism() - 1)), 1, 8),
    heloName: text('localhost', {
      // RFC 5321 §4.1.3 has addresses in brackets alone; RFC 3696 §2: no top-level domain is all digits.
      pattern: new RegExp(`(?!.*(^|\\.)\\d+$)${hostName.source}`, 'i'),
      expected: 'a host name, not an address',
    }),
    returnPathHost: text('', {
      pattern: new RegExp(`^$|${hostName.source}`, 'i'),
      expected: 'a host name, or nothing',
    }),
    sourceAddresses: list([], {
      each: (item) => isIP(item) !== 0,
      expected: 'a list of IP addresses',
    }),
    seenAs: seenAsSetting,
    port: port(25),
    ipFamily: oneOf('both', ['both', 'ipv4', 'ipv6']),
    allowPrivateAddresses: flag(false),
    maxQueued: integer(5_000_000, 1, 100_000_000),
    maxConnections: integer(500, 1, 20_000),
    pools: pools(hostName),
    retry: {
      transactional: retry('5d'),
      automation: retry('3d'),
      campaign: retry('3d'),
    },
    warmUp: oneOf('auto', ['auto', 'off']),
    warmUpReserve: integer(200, 0, 100_000),
    shutdownGrace: duration('30s', '0s', '15m'),
    tls: {
      mtaSts: flag(true),
      dane: flag(false),
      domains: tlsOfDomains,
    },
    failover: {
      smartHosts,
      sites: integer(5, 2, 1_000),
      window: duration('10m', '1m', '1d'),
    },
  },
  // Gmail and Yahoo! want complaints below 0.1 % of the mail, and 0.3 % is too many for them.
  protection: {
    window: duration('7d', '1d', '30d'),
    minRecipients: integer(200, 1, 1_000_000),
    countSimulator: flag(false),
    bounces: {
      warn: percentage('5%'),
      pause: percentage('10%'),
      minimum: integer(10, 1, 1_000_000),
    },
    complaints: {
      warn: percentage('0.1%'),
      pause: percentage('0.5%'),
      minimum: integer(3, 1, 1_000_000),
    },
    // Of mails an hour to whom an account never mailed; 0: no surge is looked for.
    surges: { minimum: integer(1_000, 0, 1_000_000_000), times: integer(10, 2, 1_000) },
  },
  keys: {
    remindExpiring: duration('14d', '1d', '90d'),
    remindUnused: duration('180d', '7d', '3650d'),
    remindDkim: duration('365d', '30d', '3650d'),
  },
  operator: {
    notify: mailAddress(''),
    from: mailAddress(''),
    silence: list([], {
      each: (item) => /^[a-z]+(-[a-z]+)*$/.test(item),
      expected: "a list of kinds, which 'posthorn notice kinds' shows",
    }),
    burningPerDay: integer(6, 0, 50),
    againAfter: duration('6h', '10m', '7d'),
    queueAge: duration('30m', '1m', '7d'),
    diskFree: percentage('10%'),
    certificateEnds: durations(['21d', '7d', '2d'], '1h'),
    relays,
    relayAfter: duration('10m', '10s', '1d'),
    command: command(
      (item) => item !== '' && !item.includes('\0'),
      'a list: the absolute path of a program, and its arguments',
    ),
  },
  tlsReports: {
    enabled: flag(true),
    from: mailAddress(''),
    organization: text(''),
    contact: mailAddress(''),
  },
  inbound: {
    enabled: flag(true),
    host: listenAddress('0.0.0.0'),
    port: port(25),
    hosts: list([], { each: (item) => hostName.test(item), expected: 'a list of host names' }),
    forwardTo: mailAddress(''),
    keepMails: integer(1_000, 1, 100_000),
    maxWaiting: integer(100_000, 1, 10_000_000),
    maxWaitingMib: integer(2_048, 16, 1_048_576),
    maxConnections: integer(500, 1, 20_000),
    proxyProtocolFrom: networks(),
    connectionsPerAddress: integer(20, 1, 20_000),
    connectionsPerNetwork: integer(50, 1, 20_000),
    // RFC 5321 §4.5.3.2.7: a server waits at least five minutes for the next command.
    idleTimeout: duration('5m', '1s', '1h'),
    sessionTimeout: duration('30m', '1s', '24h'),
    rspamd: {
      url: text('', {
        pattern: /^$|^http:\/\/[^\s/?#]+$/,
        expected: 'an address such as http://127.0.0.1:11333, or nothing',
      }),
      timeout: duration('5s', '100ms', '60s'),
    },
    tls: {
      certificate: text(''),
      key: text(''),
    },
  },
  submission: {
    enabled: flag(false),
    // RFC 6409 §3.1: 587 with STARTTLS; RFC 8314 §3.3: 465 with TLS from the first byte on.
    starttls: listenAt('0.0.0.0:587'),
    tls: listenAt('0.0.0.0:465'),
    certificate: text(''),
    key: text(''),
    plain: {
      listen: listenAt(''),
      networks: networks(),
    },
    trusted: trustedNetworks,
    maxConnections: integer(500, 1, 20_000),
    proxyProtocolFrom: networks(),
    connectionsPerAddress: integer(100, 1, 20_000),
    connectionsPerNetwork: integer(250, 1, 20_000),
    maxArrivingMib: integer(1_024, 16, 1_048_576),
    idleTimeout: duration('5m', '1s', '1h'),
    sessionTimeout: duration('30m', '1s', '24h'),
    keepSessions: integer(10_000, 1, 1_000_000),
  },
  tls: {
    acme: flag(false),
    agreeToTerms: flag(false),
    email: mailAddress(''),
    directory: text('https://acme-v02.api.letsencrypt.org/directory', {
      pattern: /^https:\/\/[^\s/?#]+\/\S*$/,
      expected: 'the URL of a directory, such as "https://acme.example.com/directory"',
    }),
    directoryCa: text('', {
      pattern: /^$|^\//,
      expected: 'the absolute path of a file, or nothing',
    }),
    eabKeyId: text('', { pattern: /^[\x21-\x7e]{0,300}$/, expected: 'a text without blanks' }),
    eabKeyFile: text('', {
      pattern: /^$|^\//,
      expected: 'the absolute path of a file, or nothing',
    }),
    dnsHook: text('', {
      pattern: /^$|^\//,
      expected: 'the absolute path of a program, or nothing',
    }),
    dnsServer: table<string>(
      '',
      (value) =>
        typeof value === 'string' && (value === '' || isUpdateServer(value)) ? value : undefined,
      'a name server with an optional port, such as "ns1.example.com" or "192.0.2.53:53"',
    ),
    dnsKeyFile: text('', {
      pattern: /^$|^\//,
      expected: 'the absolute path of a file, or nothing',
    }),
    names: list([], {
      each: (item) => hostName.test(item) && item.includes('.') && isIP(item) === 0,
      expected: 'a list of host names',
    }),
    addresses: list([], {
      each: (item) => isIP(item) !== 0,
      expected: 'a list of IP addresses',
    }),
    trackingHosts: integer(500, 0, 5_000),
    trackingHostsPerAccount: integer(20, 0, 5_000),
  },
  ceilings,
  contacts: {
    defaultCountry: table<string>(
      'NG',
      (value) => (typeof value === 'string' && isRegion(value) ? value : undefined),
      'a country code of two capital letters, such as "NG" or "GB"',
    ),
  },
  automations: {
    maxLiveRuns: integer(5_000_000, 1, 100_000_000),
  },
  tracking: {
    opens: flag(true),
    clicks: flag(true),
    // Filters look into a mail while it is delivered; no person is so quick.
    machineWithin: duration('3s', '0s', '10m'),
  },
  webhooks: {
    allow: list([], {
      each: (item) => hostName.test(item) || isNetwork(item),
      expected: 'a list of host names, addresses and networks, such as "10.0.0.0/8"',
    }),
  },
  attachments: {
    maxBytes: integer(10_485_760, 1, 26_214_400),
    maxCount: integer(50, 0, 1_000),
    allow: list([], {
      each: (item) => hostName.test(item) || isNetwork(item),
      expected: 'a list of host names, addresses and networks, such as "10.0.0.0/8"',
    }),
  },
  jobs: {
    zone: timeZone('UTC'),
    ...schedules,
  },
  metrics: {
    enabled: flag(true),
  },
  retention: {
    bodies: age('30d'),
    transcripts: age('30d'),
    sessions: age('30d'),
    inbound: age('365d'),
    usageDays: age('800d', '32d'),
    figures: age('forever', '366d'),
    consent: age('forever', '365d'),
    audit: age('800d', '30d'),
    drafts: age('365d', '30d'),
    templateVersions: age('365d', '30d'),
    diskShare: percentage('80%'),
    bodiesAtLeast: duration('1d', '0s', '36500d'),
  },
  doctor: {
    smtpProbes: list(['gmail.com', 'outlook.com', 'yahoo.com'], {
      each: (item) => hostName.test(item),
      expected: 'a list of domains',
    }),
    blocklists: list(['zen.spamhaus.org', 'bl.spamcop.net', 'psbl.surriel.com'], {
      each: (item) => hostName.test(item),
      expected: 'a list of DNS zones',
    }),
    timeServers: list(['time.cloudflare.com', 'time.google.com', 'pool.ntp.org'], {
      each: (item) => isServer(item) || hostName.test(item.replace(/:\d{1,5}$/, '')),
      expected: 'a list of hosts, with an optional :port',
    }),
    timeout: duration('10s', '100ms', '2m'),
  },
  store: storeSettings,
  node: nodeSettings,
  backup: {
    dir: text('', { pattern: /^$|^\//, expected: 'the absolute path of a directory, or nothing' }),
    withKey: flag(true),
    compress: flag(true),
    passphraseFile: text('', {
      pattern: /^$|^\//,
      expected: 'the absolute path of a file, or nothing',
    }),
    keepDaily: integer(7, 1, 1_000),
    keepWeekly: integer(4, 0, 1_000),
    keepMonthly: integer(6, 0, 1_000),
    maxAge: duration('36h', '1h', '400d'),
    hook: command(),
    hookTimeout: duration('1h', '1s', '24h'),
  },
  sandbox: {
    smtpPort: port(2525),
    keepMessages: integer(1_000, 1, 100_000),
  },
} as const
