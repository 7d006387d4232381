// Thorough, turn 2: an import whose node is killed goes on at another one, from where it was, each row once.
import t from 'tap'
import { systemClock as clock } from '../../src/clock/index.js'
import { makeTurns, openStore } from '../../src/store/index.js'
import { logIn } from '../support/log-in.js'
import { becomes, nodesRig } from '../support/nodes.js'
import { noPostgres } from '../support/postgres.js'
import { shownForm } from '../support/shown-form.js'

t.setTimeout(600_000)

const rows = 20_000

t.test('the node of an import is killed', { skip: noPostgres ?? false }, async (t) => {
  const rig = await nodesRig(t)
  const nodes = { mail1: await rig.start('mail1'), mail2: await rig.start('mail2') }
  const dataDir = rig.dirOf('mail1')
  const url = `${rig.server.url}/mail`
  const store = await openStore({ dataDir, url, clock, turns: makeTurns(), slot: 20 })
  const [account] = await rig.ask<{ id: string }>('select id from accounts')
  const accountId = account?.id ?? ''
  const member = await logIn({ url: nodes.mail1.url, dataDir, store }, accountId, 'owner')
  await store.close()

  const body = new FormData()
  const text = Array.from({ length: rows }, (_, n) => `r${n}@x.test,R${n}\n`).join('')
  body.set('file', new Blob([`email,firstName\n${text}`]), 'readers.csv')
  const taken = await member.post(`/a/${accountId}/contacts/import`, body)
  t.equal(taken.status, 303, taken.text)
  const suggested = shownForm((await member.get(taken.to)).text)
  const order = { newList: 'Readers', list: '', agreed: 'They signed up' }
  const begun = await member.post(taken.to, { ...suggested, ...order })
  t.equal(begun.to, taken.to, begun.text)

  const standing = async () => {
    const [row] = await rig.ask<{ state: string; done: number; members: number }>(
      'select state, done::int, (select count(*)::int from list_members) as members from tasks',
    )
    return row ?? { state: '', done: 0, members: 0 }
  }
  const { done } = await becomes(standing, (one) => one.done > 2_000, 120_000)
  await nodes.mail1.kill('SIGKILL')
  const killedAt = performance.now()
  const { state, done: atKill } = await standing()
  t.equal(state, 'running', `it had ended at ${done} of ${rows}`)
  await becomes(standing, (one) => one.done > atKill, 120_000)
  const tookMs = performance.now() - killedAt
  t.comment(`${atKill} of ${rows} were in; it went on ${Math.round(tookMs)} ms after the kill`)
  t.ok(tookMs <= 30_000, `${tookMs} ms`)

  t.match(await becomes(standing, (one) => one.state !== 'running', 300_000), {
    state: 'done',
    members: rows,
  })
  const lines = await rig.ask<{ line: number }>('select line from list_members order by line')
  t.ok(
    lines.every(({ line }, n) => Number(line) === n + 2),
    'each row once',
  )
  t.match(await rig.ask('select count(*)::int as n from import_pieces'), [{ n: 0 }])
})
