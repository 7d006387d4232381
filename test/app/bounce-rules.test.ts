import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { suppress, suppressionsOf } from '../../src/suppression/index.js'
import { FakeClock } from '../support/clock.js'
import { startPosthorn } from '../support/posthorn.js'
import { makeTempDir } from '../support/store.js'

t.test('bad bounce rules stop the start, and say what is wrong', async (t) => {
  const dataDir = makeTempDir(t)
  writeFileSync(join(dataDir, 'bounce-rules.toml'), '[code]\n"550" = "gone"\n')
  await t.rejects(startPosthorn(t, { dataDir }), {
    message:
      /^Bad bounce rules \(.+bounce-rules\.toml\):\n {2}\[code\] 550: "gone" given, expected/,
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
