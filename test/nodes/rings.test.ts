// Issue 46: nodes ring at each other, and answer for each other what the memory of one of them alone knows.
import t from 'tap'
import { makeApplianceKey } from '../../src/config/index.js'
import { openAnswer, sealRing } from '../../src/nodes/index.js'
import { becomes, mailsTo, nodesRig } from '../support/nodes.js'
import { noPostgres } from '../support/postgres.js'

t.test('rings of two nodes', { skip: noPostgres ?? false }, async (t) => {
  const rig = await nodesRig(
    t,
    {},
    '[outbound.pools.spare]\nsources = [{ addresses = ["127.0.0.2"] }]\nwhen_away = "wait"\n',
  )
  const { mx, ask, send } = rig
  const queued = async (where = 'true') =>
    (await ask<{ n: number }>(`select count(*)::int as n from queue where ${where}`))[0]?.n ?? 0
  const first = await rig.start('mail1')
  const second = await rig.start('mail2')
  const addressOf = async (name: string) =>
    (await ask<{ address: string }>(`select address from nodes where name = '${name}'`))[0]
      ?.address ?? ''
  const waitingAt = async (node: number) =>
    (
      await becomes(
        () =>
          ask<{ id: string }>(
            `select id from queue where node = ${node} and lease is null order by id desc limit 1`,
          ),
        (rows) => rows.length === 1,
        10_000,
      )
    )[0]?.id ?? ''

  await t.test('what holds mail of one is told at the other', async (t) => {
    mx.change({ dot: { reply: '250 ok', delayMs: 6_000 } })
    t.equal((await send(second, mailsTo('held', 16))).status, 200)
    await becomes(
      () => queued('node = 2 and lease is not null'),
      (n) => n > 0,
      10_000,
    )
    const id = await waitingAt(2)
    const shown = await rig.run('mail1', ['queue', 'show', id, '--json'])
    t.match(JSON.parse(shown.stdout), [{ node: 'mail2', why: { gate: 'connections' } }])
    const top = await rig.run('mail1', ['top', '--once', '--interval', '1', '--node', 'mail2'])
    t.match(top.stdout, /fake +3 of 3/)
    const own = await rig.run('mail1', ['top', '--once', '--interval', '1'])
    t.notMatch(own.stdout, /3 of 3/)
    const status = await rig.run('mail1', ['status', '--json'])
    t.match(JSON.parse(status.stdout), { nodes: [{ name: 'mail2', state: 'up', heard: true }] })
    t.match((await rig.run('mail1', ['status'])).stdout, /mail2 +up .* healthy, takes mail/)
    mx.change({ dot: '250 ok' })
    await becomes(queued, (n) => n === 0, 20_000)
  })

  await t.test('a job begins from either machine', async (t) => {
    for (const name of ['mail1', 'mail2']) {
      const run = await rig.run(name, ['job', 'run', 'domain-checks', '--json'])
      t.match(JSON.parse(run.stdout || '{}'), { name: 'domain-checks' }, run.stderr)
    }
  })

  await t.test('mail that is made due at one leaves from the other at once', async (t) => {
    mx.change({ rcpt: '451 4.7.1 later' })
    t.equal((await send(second, mailsTo('later', 2))).status, 200)
    await becomes(
      () => queued('node = 2 and attempts > 0 and lease is null'),
      (n) => n === 2,
      10_000,
    )
    mx.change({ rcpt: '250 ok' })
    const at = performance.now()
    t.equal((await rig.run('mail1', ['queue', 'retry', '--all'])).status, 0)
    await becomes(queued, (n) => n === 0, 10_000)
    t.comment(`sent ${Math.round(performance.now() - at)} ms after the command began`)
  })

  await t.test('who has not the key, repeats, or is over is not heard', async (t) => {
    const address = await addressOf('mail2')
    const epochs = await ask<{ name: string; epoch: string }>('select name, epoch from nodes')
    const epochOf = (name: string) => Number(epochs.find((one) => one.name === name)?.epoch)
    const head = { at: Date.now(), from: epochOf('mail1'), to: epochOf('mail2') }
    const post = (body: Buffer) => fetch(`http://${address}/`, { method: 'POST', body })
    const refused = async (body: Buffer, why: RegExp) => {
      const answer = await post(body)
      t.equal(answer.status, 403)
      t.match(await answer.text(), why)
    }
    const question = { question: { overview: true } }
    const good = sealRing(rig.key, head, question)
    const answer = await post(good.sealed)
    t.equal(answer.status, 200)
    const sealed = Buffer.from(await answer.arrayBuffer())
    t.match(openAnswer(rig.key, good.nonce, sealed), { overview: { unhealthy: [] } })
    t.equal(openAnswer(rig.key, 'of another', sealed), undefined)
    t.notMatch(sealed.toString('latin1'), 'overview')
    await refused(good.sealed, /heard already/)
    await refused(Buffer.from(JSON.stringify({ head, body: question })), /not sealed/)
    await refused(Buffer.alloc(0), /not sealed/)
    const other = makeApplianceKey(Buffer.alloc(32, 7))
    await refused(sealRing(other, head, question).sealed, /not sealed/)
    const flipped = sealRing(rig.key, head, question).sealed
    flipped[40] = (flipped[40] ?? 0) ^ 1
    await refused(flipped, /not sealed/)
    const old = { ...head, at: head.at - 120_000 }
    await refused(sealRing(rig.key, old, question).sealed, /more than a minute/)
    const toOther = { ...head, to: epochOf('mail1') }
    await refused(sealRing(rig.key, toOther, question).sealed, /for another node/)
    const over = { ...head, from: 999 }
    await refused(sealRing(rig.key, over, question).sealed, /epoch of the node .* is over/)
  })

  await t.test("an address is one node's, and mail of its pool goes there", async (t) => {
    t.match(second.log(), /The address is that of another node/)
    t.match(await ask('select address, node, owner from node_addresses order by node'), [
      { address: '127.0.0.2', node: 'mail1', owner: '1' },
      { address: '127.0.0.2', node: 'mail2', owner: '0' },
    ])
    const headers = { authorization: `Bearer ${rig.apiKey}` }
    const [domain] = await ask<{ id: string }>('select id from domains')
    const answer = await fetch(`${second.url}/v1/domains/${domain?.id}`, { headers })
    t.match(await answer.text(), /ip4:127\.0\.0\.2/, 'SPF has the addresses of all nodes')
    const order = ['site', 'move', 'd0.test', '--pool', 'spare', '--for', '1h', '--why', 'a test']
    t.equal((await rig.run('mail2', order)).status, 0)
    // An order is in force within seconds.
    const leavesThere = async () => {
      await send(second, mailsTo('early', 1))
      return first.log()
    }
    await becomes(leavesThere, (log) => log.includes('"to":"early-0@d0.test"'), 15_000)
    t.equal((await send(second, mailsTo('pooled', 2))).status, 200)
    await becomes(queued, (n) => n === 0, 15_000)
    await becomes(
      async () => first.log(),
      (log) => log.includes('"to":"pooled-0@d0.test"'),
      5_000,
    )
    t.notMatch(first.log(), /"to":"pooled-1@/)
  })

  await t.test(
    'one that does not answer is said not to, and its addresses are waited for',
    async (t) => {
      mx.change({ dot: { reply: '250 ok', delayMs: 5_000 } })
      t.equal((await send(first, mailsTo('silent', 12))).status, 200)
      const id = await waitingAt(1)
      await first.kill('SIGKILL')
      mx.change({ dot: '250 ok' })
      const shown = await rig.run('mail2', ['queue', 'show', id])
      t.match(shown.stdout, /Waits because +It waits at another node.*mail1 does not answer/)
      const top = await rig.run('mail2', ['top', '--once', '--node', 'mail9'])
      t.equal(top.status, 1)
      t.match(top.stderr, /there is no node mail9/)
      await rig.run('mail2', ['site', 'hold', 'd9.test', '--for', '1m', '--why', 'a test'])
      await becomes(
        () => ask<{ wakes: string }>("select wakes from nodes where name = 'mail1'"),
        ([row]) => Number(row?.wakes) > 0,
        10_000,
      )
      // A fourth of it is for d0.test, and waits when all else has left.
      await becomes(
        () => queued('node = 2'),
        (n) => n === 3,
        30_000,
      )
      const why = async () => (await rig.run('mail2', ['queue', 'show', await waitingAt(2)])).stdout
      t.match(
        await becomes(why, (text) => !text.includes('takes this mail over'), 10_000),
        /pool spare are those of mail1, which is gone; it waits/,
      )
      t.match((await rig.run('mail2', ['node', 'forget', 'mail1'])).status, 0)
      t.same(await ask('select node from node_addresses'), [{ node: 'mail2' }])
    },
  )
})
