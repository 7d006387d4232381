// Thorough: receivers that answer slowly in each phase.
import t from 'tap'
import type { Act, MxScript } from '../support/fake-mx.js'
import { besiege, good, sendTo, settlesAt } from '../support/siege.js'

const drip: Act = { drip: '250-x\r\n', everyMs: 20, endless: true }
const phases: Record<string, MxScript> = {
  'the greeting': { banner: 'hang' },
  'EHLO, dripping': { ehlo: drip },
  STARTTLS: { startTls: 'hang', capabilities: ['STARTTLS'] },
  'the TLS handshake': { handshake: 'hang', capabilities: ['STARTTLS'] },
  MAIL: { mail: 'hang' },
  'RCPT, dripping': { rcpt: drip },
  DATA: { data: 'hang' },
  'the dot, dripping': { dot: drip },
}

for (const [phase, script] of Object.entries(phases)) {
  t.test(`servers that stall at ${phase} leave room, and have their time`, async (t) => {
    const siege = await besiege(t, { names: 40, script, total: 20 })
    const { rig, clock, names } = siege
    const owners = [await rig.addAccount(), await rig.addAccount()]
    await sendTo(siege, names, owners)
    t.equal(await settlesAt(rig, 8), 8, 'half of what is for sites that are not known')
    await rig.eventually(() => siege.held() === 8)
    const before = siege.traps[0]?.sessions.length ?? 0
    await sendTo(siege, good.slice(0, 10), [await rig.addAccount()])
    await rig.mx.waitForMessages(10)
    await clock.advance(59_000)
    t.equal(siege.traps[0]?.sessions.length, before, 'they have a minute')
    await clock.advance(2_000)
    await rig.eventually(() => (siege.traps[0]?.sessions.length ?? 0) > before)
    t.equal(await settlesAt(rig, 8), 8)
  })
}
