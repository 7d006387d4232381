import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { loadConfig } from '../../src/config/index.js'
import {
  answersIn,
  foundSettings,
  guessDomain,
  guessMachine,
  readAnswer,
  type SetupAnswers,
  sandboxAnswers,
  settingsDifferences,
  settingsText,
} from '../../src/setup/index.js'
import { fakeResolver } from '../support/resolver.js'
import { makeTempDir } from '../support/store.js'

t.test('an answer is read, or the problem says what was expected', async (t) => {
  t.same(readAnswer.hostName(' Mail.Example.COM. '), { value: 'mail.example.com' })
  t.same(readAnswer.addresses('8.8.8.8, 2001:DB8:0::1 8.8.8.8'), {
    value: ['8.8.8.8', '2001:db8::1'],
  })
  t.same(readAnswer.domain('bücher.example'), { value: 'xn--bcher-kva.example' })
  t.same(readAnswer.operator('ann@example.org '), { value: 'ann@example.org' })
  for (const [name, text, problem] of [
    ['hostName', '', /^A name is wanted, such as mail\.example\.com$/],
    ['hostName', 'mail', /"mail" is not a domain name, such as mail\.example\.com/],
    ['hostName', '192.0.2.25', /is an address; a name is wanted/],
    ['addresses', '', /^An IP address is wanted/],
    ['addresses', '192.0.2.25, 1.2.3', /^"1\.2\.3" is not an IP address/],
    ['domain', 'https://example.com', /is not a domain name/],
    ['operator', '', /is not a mail address/],
    ['operator', 'Ann <ann@example.org>', /is not a mail address/],
    ['operator', 'ann@localhost', /is not a mail address/],
    ['operator', 'a@b@example.org', /is not a mail address/],
  ] as const) {
    t.match(readAnswer[name](text), { problem }, `${name} ${text}`)
  }
})

t.test('guesses come from the machine, its addresses and their reverse names', async (t) => {
  const resolver = fakeResolver({
    '8.8.4.4': { ptr: ['static.4.4.8.8.clients.provider.test'] },
    '8.8.8.8': { ptr: ['mail.shop.test'] },
    '2a00::8': { ptr: ['mail.shop.test'] },
  })
  const addresses = ['127.0.0.1', '10.0.0.5', '8.8.4.4', '8.8.8.8', '2a00::8', 'fe80::1', '::1']
  t.match(await guessMachine(resolver, { hostName: 'vps-1', addresses }), {
    hostName: 'mail.shop.test',
    addresses: ['8.8.8.8', '2a00::8'],
    leftOut: [],
  })
  const named = await guessMachine(resolver, { hostName: 'mx.host.test', addresses })
  t.match(named, { hostName: 'mx.host.test', leftOut: [/^2a00::8 is left out: .* mx\.host\.test/] })
  t.same(
    await guessMachine(resolver, { hostName: 'box.local', addresses: ['8.8.4.4'] }),
    { hostName: undefined, addresses: ['8.8.4.4'], leftOut: [] },
    'what the provider has made up, or no DNS knows, is no name',
  )
  t.same(await guessMachine(resolver, { hostName: 'box', addresses: ['10.0.0.5'] }), {
    hostName: undefined,
    addresses: [],
    leftOut: [],
  })
  t.equal(guessDomain('mail.shop.test'), 'shop.test')
  t.equal(guessDomain('shop.test'), 'shop.test')
})

const answers: SetupAnswers = {
  hostName: 'mail.shop.test',
  addresses: ['192.0.2.25'],
  domain: 'shop.test',
  operator: 'ann@ops.test',
  certificates: 'proxy',
  isKnownSender: false,
  route: 'direct',
}

t.test('the short settings say what was answered, and nothing else than defaults', async (t) => {
  const file = join(makeTempDir(t), 'posthorn.toml')
  const load = (
    given: Partial<SetupAnswers>,
    ownAddresses = given.addresses ?? answers.addresses,
  ) => {
    const text = settingsText({ ...answers, ...given }, { ownAddresses, example: '/e.toml' })
    writeFileSync(file, text)
    t.equal(foundSettings(file), 'ours')
    t.ok(text.split('\n').length < 45, 'short')
    return loadConfig({ file, env: {} })
  }
  t.match(load({}), {
    http: { public: { url: 'https://mail.shop.test', host: '127.0.0.1' } },
    outbound: { heloName: 'mail.shop.test', sourceAddresses: ['192.0.2.25'], route: 'direct' },
    inbound: { forwardTo: 'ann@ops.test', host: '0.0.0.0' },
    operator: { notify: 'ann@ops.test' },
    tls: { acme: false },
  })
  t.match(load({ certificates: 'acme' }), {
    tls: { acme: true, agreeToTerms: true, email: 'ann@ops.test' },
    http: {
      public: { url: 'https://mail.shop.test', port: 80, tls: { enabled: true, port: 443 } },
    },
  })
  const both = load({ addresses: ['192.0.2.25', '2001:db8::25'], certificates: 'acme' })
  t.match(both, { inbound: { host: '::' }, http: { public: { host: '::' } } })
  t.match(
    load({}, ['127.0.0.1', '10.0.0.5', 'fe80::1']).outbound,
    { sourceAddresses: ['10.0.0.5'], seenAs: { '10.0.0.5': '192.0.2.25' } },
    'behind 1:1 NAT mail leaves from the only other address',
  )
  t.match(
    load({}, ['10.0.0.5', '172.17.0.1']).outbound,
    { sourceAddresses: [], seenAs: {} },
    'it is not guessed which of several',
  )
  t.match(load({}).outbound.warmUp, 'auto')
  t.match(load({ isKnownSender: true }).outbound.warmUp, 'off')
  t.match(load(sandboxAnswers), { outbound: { route: 'sandbox' }, inbound: { port: 2526 } })
})

t.test('settings that a person has had a hand in are known, and compared', async (t) => {
  const file = join(makeTempDir(t), 'posthorn.toml')
  t.equal(foundSettings(file), 'none')
  const text = settingsText(answers, { ownAddresses: answers.addresses, example: '/e.toml' })
  writeFileSync(file, text)
  const config = loadConfig({ file, env: {} })
  const { domain: _, ...inSettings } = answers
  t.same(answersIn(config, file), inSettings)
  const natted = settingsText(answers, { ownAddresses: ['10.0.0.5'], example: '/e.toml' })
  writeFileSync(file, natted)
  t.same(answersIn(loadConfig({ file, env: {} }), file), inSettings, 'behind NAT too')
  t.same(settingsDifferences(loadConfig({ file, env: {} }), answers), [])
  const unclear = { ownAddresses: ['10.0.0.5', '10.0.0.6'], example: '/e.toml' }
  writeFileSync(file, settingsText(answers, unclear))
  t.same(answersIn(loadConfig({ file, env: {} }), file), inSettings, 'and with several addresses')
  t.same(settingsDifferences(config, answers), [])
  t.same(settingsDifferences(config, { hostName: 'mx.shop.test', certificates: 'acme' }), [
    'outbound.helo_name is "mail.shop.test", not "mx.shop.test"',
    'tls.acme is "false", not "true"',
  ])
  for (const changed of [`${text}\n[log]\nlevel = "debug"\n`, text.replace('ann@', 'bob@'), '']) {
    writeFileSync(file, changed)
    t.equal(foundSettings(file), 'theirs')
  }
})
