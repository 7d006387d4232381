import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { suppress, suppressionsOf } from '../../src/suppression/index.js'
import { runCli } from '../cli/run.js'
import { FakeClock } from '../support/clock.js'
import { startPosthorn } from '../support/posthorn.js'
import { makeTempDir } from '../support/store.js'

t.test('bad bounce rules stop the start, and say what is wrong', async (t) => {
  const dataDir = makeTempDir(t)
  writeFileSync(join(dataDir, 'bounce-rules.toml'), '[code]\n"550" = "gone"\n')
  await t.rejects(startPosthorn(t, { dataDir }), {
    message:
      /^Bad bounce rules \(.+bounce-rules\.toml\):\n {2}\[code\]: 550: "gone" given, expected/,
  })
})

t.test('bad feedback loops stop the start, and say what is wrong', async (t) => {
  const dataDir = makeTempDir(t)
  const file = join(dataDir, 'feedback-loops.toml')
  writeFileSync(file, '[[loops]]\nname = "Mine"\nnetworks = ["everywhere"]\n')
  const message =
    /^Bad feedback loops \(.+feedback-loops\.toml\):\n {2}\[\[loops\]\] "Mine": networks: \["everywhere"\] given, expected a list/
  await t.rejects(startPosthorn(t, { dataDir }), { message })
  const env = { POSTHORN_DATA: dataDir }
  const { status, stderr } = await runCli(['config', 'check'], { env })
  t.equal(status, 1)
  t.match(stderr.replace(/^error: /, ''), message)
  writeFileSync(file, '[[loops]]\nname = "Mine"\nnetworks = ["192.0.2.0/24"]\n')
  t.match(await runCli(['config', 'check'], { env }), {
    status: 0,
    stdout: /config\/feedback-loops\.toml is good\n.*feedback-loops\.toml is good\n/,
  })
})

t.test('a suppression that has ended leaves the list by itself', async (t) => {
  const clock = new FakeClock()
  const { store, accountId } = await startPosthorn(t, { clock })
  const add = (email: string, expiresAt: number | null) =>
    store.write((tx) =>
      suppress(tx, accountId, { email, reason: 'bounce', expiresAt }, clock.now()),
    )
  const left = async () => {
    const found = ['ended@x.test', 'lasting@x.test', 'dead@x.test'].map(
      async (email) => (await suppressionsOf(store.read, accountId, email)).length,
    )
    return await Promise.all(found)
  }
  await add('ended@x.test', clock.now() + 1_000)
  await add('lasting@x.test', clock.now() + 86_400_000)
  await add('dead@x.test', null)
  await clock.advance(61_000)
  for (let waited = 0; (await left())[0] === 1 && waited < 5_000; waited += 10) {
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  t.same(await left(), [0, 1, 1])
})
