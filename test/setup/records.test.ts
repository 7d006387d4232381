import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { systemClock as clock } from '../../src/clock/index.js'
import { loadConfig, makeApplianceKey } from '../../src/config/index.js'
import { examine } from '../../src/doctor/index.js'
import {
  addDomain,
  recordSettings,
  setTrackingHost,
  verifyDomain,
  zoneFile,
} from '../../src/domains/index.js'
import { settingsText, type WantedRecord, wantedRecords } from '../../src/setup/index.js'
import { fakeResolver } from '../support/resolver.js'
import { makeTempDir, openTestStore } from '../support/store.js'

const recordChecks = [
  'helo',
  'ptr',
  'dkim',
  'return-path',
  'spf',
  'dmarc',
  'dmarc-authorisation',
  'tracking',
]

/** A domain added under settings as setup writes them, and what the doctor says under a zone. */
async function rig(t: Test, answers: { hostName: string; addresses: string[] }) {
  const text = settingsText(
    {
      ...answers,
      domain: 'shop.test',
      operator: 'ann@ops.test',
      certificates: 'proxy',
      isKnownSender: false,
      route: 'direct',
    },
    { ownAddresses: answers.addresses, example: 'config/posthorn.example.toml' },
  )
  const file = join(makeTempDir(t), 'posthorn.toml')
  writeFileSync(file, text)
  const env = {
    POSTHORN_DOCTOR_SMTP_PROBES: '',
    POSTHORN_DOCTOR_BLOCKLISTS: '',
    POSTHORN_DOCTOR_TIME_SERVERS: '',
    POSTHORN_DOCTOR_TIMEOUT: '100ms',
    // Where nobody listens: only records are looked at here.
    POSTHORN_OUTBOUND_PORT: '9',
    POSTHORN_INBOUND_PORT: '9',
  }
  const config = loadConfig({ file, env })
  const store = await openTestStore(t, { clock })
  const key = makeApplianceKey(Buffer.alloc(32, 7))
  const account = await createAccount({ store, clock }, 'Shop')
  await addDomain({ store, clock, key }, account.id, 'shop.test')
  const domain = await setTrackingHost({ store }, account.id, 'shop.test', 'links.shop.test')
  const records = wantedRecords(config, answers.addresses, domain)
  return {
    records,
    async look(published: readonly WantedRecord[]) {
      const reverse = published.filter(({ type }) => type === 'PTR')
      const zone = published.filter(({ where }) => where === 'zone')
      const resolver = fakeResolver(readZone(zoneFile(zone), reverse, answers.addresses))
      const settings = recordSettings(config)
      await verifyDomain({ store, clock, resolver, settings }, account.id, 'shop.test')
      const random = () => 0
      const deps = { config, dataDir: '/tmp', read: store.read, clock, resolver, key, random }
      const findings = await examine(deps)
      const about = findings.filter(({ check }) => recordChecks.includes(check))
      return { resolver, about, bad: about.filter(({ state }) => state !== 'ok') }
    },
  }
}

/** The zone as a name server would read it. */
function readZone(zone: string, reverse: readonly WantedRecord[], addresses: readonly string[]) {
  interface Host {
    a: string[]
    aaaa: string[]
    txt: string[]
    mx: { preference: number; exchange: string }[]
    ptr: string[]
    cname?: string
  }
  const hosts: Record<string, Host> = {}
  const at = (name: string) => {
    hosts[name] ??= { a: [], aaaa: [], txt: [], mx: [], ptr: [] }
    return hosts[name]
  }
  for (const line of zone.trimEnd().split('\n')) {
    const [, name = '', type, data = ''] = /^(\S+)\. +3600 IN (\S+) +(.*)$/.exec(line) ?? []
    const host = at(name)
    const [first = '', second = ''] = data.split(' ')
    if (type === 'A') host.a.push(data)
    else if (type === 'AAAA') host.aaaa.push(data)
    else if (type === 'MX')
      host.mx.push({ preference: Number(first), exchange: second.slice(0, -1) })
    else if (type === 'CNAME') host.cname = data.slice(0, -1)
    else if (type === 'TXT') {
      host.txt.push([...data.matchAll(/"([^"]*)"/g)].map(([, text]) => text).join(''))
    } else throw new Error(`No record: ${line}`)
  }
  // In the order of the addresses, as the PTR's own names are tested with the printed task.
  for (const [i, { value }] of reverse.entries()) at(addresses[i] ?? '').ptr.push(value)
  return hosts
}

for (const [what, answers] of [
  ['a host below the domain', { hostName: 'mail.shop.test', addresses: ['192.0.2.25'] }],
  ['a host elsewhere', { hostName: 'mx.host.test', addresses: ['192.0.2.25', '2001:db8::25'] }],
] as const) {
  t.test(`the printed records are those that the doctor looks for: ${what}`, async (t) => {
    const { records, look } = await rig(t, { ...answers, addresses: [...answers.addresses] })
    const { about, bad, resolver } = await look(records)
    t.same(bad, [], 'all of them published: all is well')
    const checks = recordChecks.filter(
      (check) => check !== 'dmarc-authorisation' || answers.hostName === 'mx.host.test',
    )
    t.same([...new Set(about.map(({ check }) => check))].sort(), checks.sort())
    for (const { type, host } of records.filter(({ where }) => where === 'zone')) {
      t.ok(resolver.count(host, type.toLowerCase() as 'a') > 0, `${type} of ${host} is asked for`)
    }
    for (const left of records) {
      // Without it mail comes to the host's address (RFC 5321 §5.1).
      if (left.purpose === 'inbound mail') continue
      const without = await look(records.filter((one) => one !== left))
      t.ok(without.bad.length > 0, `${left.type} of ${left.host} is missed`)
    }
  })
}
