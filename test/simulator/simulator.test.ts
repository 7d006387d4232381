import t from 'tap'
import { readReport } from '../../src/reports/index.js'
import { behaviourOf } from '../../src/simulator/index.js'
import { FakeClock } from '../support/clock.js'
import { outboundRig } from '../support/outbound.js'

const at = (local: string) => `${local}@simulator.posthorn.test`

t.test('each recipient behaves by its local part', async (t) => {
  const clock = new FakeClock()
  const rig = await outboundRig(t, { clock })
  const ended = async (local: string, status: Parameters<typeof rig.becomes>[1]) => {
    const email = await rig.becomes(await rig.send({ to: at(local) }), status)
    return email.recipients[0]?.reply ?? ''
  }
  t.match(await ended('delivered', 'delivered'), /^250 2\.0\.0/)
  t.match(await ended('Delivered+Tag.7', 'delivered'), /^250/, 'case and tags change nothing')
  t.match(await ended('bounced+1', 'bounced'), /^550 5\.1\.1/)
  t.match(await ended('full+1', 'bounced'), /^552 5\.2\.2/)
  t.match(await ended('nobody', 'bounced'), /^550 5\.1\.1 The simulator has delivered, bounced,/)

  const suppressed = await rig.send({ to: [at('suppressed+x'), at('delivered')] })
  const email = await rig.becomes(suppressed, 'delivered')
  t.match(
    email.recipients.find(({ email: address }) => address === at('suppressed+x')),
    { status: 'suppressed' },
  )
  t.equal(rig.mx.sessions.length, 0, 'nothing left the appliance')
  t.same(rig.resolver.questions, [], 'nor was anything looked up')
})

t.test('deferred@ is taken at the third try, each mail for itself', async (t) => {
  const clock = new FakeClock()
  const rig = await outboundRig(t, { clock })
  const ids = [await rig.send({ to: at('deferred') }), await rig.send({ to: at('deferred+2') })]
  const tried = (times: number) =>
    Promise.all(ids.map((id) => rig.until(id, (email) => email.recipients[0]?.attempts === times)))
  for (const [i, waitMs] of [0, 400_000, 800_000].entries()) {
    await clock.advance(waitMs)
    const [first, second] = await tried(i + 1)
    t.match([first?.status, second?.status], i < 2 ? ['sent', 'sent'] : ['delivered', 'delivered'])
  }
})

t.test('anybody at defers-30m. is put off for half an hour, then taken', async (t) => {
  const clock = new FakeClock()
  const rig = await outboundRig(t, { clock })
  const of = (name: string) => `${name}@defers-30m.simulator.posthorn.test`
  const id = await rig.send({ to: of('ann') })
  const tried = (times: number) =>
    rig.until(id, ({ recipients }) => recipients[0]?.attempts === times)
  t.match((await tried(1)).recipients, [{ reply: /^451 4\.3\.2 .*takes no mail for defers-30m/ }])
  for (const [times, waitMs] of [
    [2, 400_000],
    [3, 800_000],
  ] as const) {
    await clock.advance(waitMs)
    await tried(times)
  }
  await clock.advance(1_500_000)
  await rig.becomes(id, 'delivered')
  await rig.becomes(await rig.send({ to: of('bob') }), 'delivered')
  t.same(rig.resolver.questions, [], 'nothing was looked up')
})

t.test('slow@ takes ten seconds', async (t) => {
  const clock = new FakeClock()
  const rig = await outboundRig(t, { clock })
  const id = await rig.send({ to: at('slow') })
  await rig.until(id, (email) => email.status === 'sending')
  await rig.becomes(await rig.send({ to: at('delivered') }), 'delivered')
  t.equal((await rig.email(id)).status, 'sending', 'others overtake it')
  for (let waited = 0; (await rig.email(id)).status !== 'delivered'; waited++) {
    if (waited > 100) throw new Error('it never ends')
    await clock.advance(1_000)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
})

t.test('what was delivered may come back: a bounce, a complaint', async (t) => {
  const clock = new FakeClock()
  const rig = await outboundRig(t, { clock })
  for (const local of ['late-bounce', 'complained']) {
    await rig.becomes(await rig.send({ to: at(local), subject: `To ${local}` }), 'delivered')
    await clock.advance(1_000)
  }
  const [bounce, complaint] = await rig.mx.waitForMessages(2)
  t.match(bounce, { from: '', to: [/^b[a-z2-7]{30}@bounce\.sender\.test$/] })
  t.match(complaint, { from: '', to: ['feedback@bounce.sender.test'] })
  const read = await readReport(bounce?.raw ?? Buffer.alloc(0))
  t.match(read, {
    kind: 'dsn',
    recipients: [{ action: 'failed', status: '5.1.1', finalRecipient: at('late-bounce') }],
    tokens: [bounce?.to[0]],
    original: { subject: 'To late-bounce' },
  })
  t.match(await readReport(complaint?.raw ?? Buffer.alloc(0)), {
    kind: 'arf',
    feedback: { type: 'abuse', means: 'complaint', originalRecipient: at('complained') },
    tokens: [/^b[a-z2-7]{30}@bounce\.sender\.test$/],
    original: { subject: 'To complained' },
  })
})

t.test('only its own domain is the simulator’s', (t) => {
  t.equal(behaviourOf('bounced@example.com'), undefined)
  t.equal(behaviourOf('bounced@x.simulator.posthorn.test'), undefined)
  t.equal(behaviourOf('a@defers-2w.simulator.posthorn.test'), undefined)
  t.match(behaviourOf('a@Defers-2h.simulator.posthorn.test'), { forMs: 7_200_000 })
  t.match(behaviourOf('bounced@SIMULATOR.posthorn.test'), { kind: 'refuse' })
  t.match(behaviourOf('constructor@simulator.posthorn.test'), { reply: /^550/ })
  t.end()
})
