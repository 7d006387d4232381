import {
  closeSync,
  existsSync,
  fstatSync,
  linkSync,
  openSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { removeSlowly } from '../../src/backup/remove-slowly.js'
import { makeTempDir } from '../support/store.js'

const mib = 1_048_576

const makeFile = (t: Test) => {
  const file = join(makeTempDir(t), 'large')
  writeFileSync(file, Buffer.alloc(100 * mib, 'x'))
  return file
}

/** Which sizes a file had while that ran, as seen by who has it open. */
async function sizesDuring(t: Test, file: string, work: () => Promise<void>): Promise<number[]> {
  const opened = openSync(file, 'r')
  t.teardown(() => closeSync(opened))
  const sizes: number[] = []
  let done = false
  const working = work().finally(() => {
    done = true
  })
  while (!done) {
    sizes.push(fstatSync(opened).size)
    await pause(1)
  }
  await working
  return sizes
}

t.test('the name of a large file goes at once, its space step by step', async (t) => {
  const file = makeFile(t)
  const sizes = await sizesDuring(t, file, async () => {
    await removeSlowly(file)
  })
  t.notOk(existsSync(file))
  t.ok(new Set(sizes).size > 3, `${new Set(sizes).size} sizes`)
  t.ok(Math.min(...sizes) <= 20 * mib)
})

t.test('all of it goes at once when that is asked for', async (t) => {
  const file = makeFile(t)
  const sizes = await sizesDuring(t, file, () => removeSlowly(file, AbortSignal.abort()))
  t.notOk(existsSync(file))
  t.same([...new Set(sizes)], [100 * mib])
})

t.test('what somebody has linked stays whole', async (t) => {
  const file = makeFile(t)
  linkSync(file, `${file}.kept`)
  await removeSlowly(file)
  t.notOk(existsSync(file))
  t.equal(statSync(`${file}.kept`).size, 100 * mib)
})

t.test('of a symlink the name goes alone, and what is not there is no fault', async (t) => {
  const dir = makeTempDir(t)
  writeFileSync(join(dir, 'target'), 'as it was')
  symlinkSync('target', join(dir, 'link'))
  await removeSlowly(join(dir, 'link'))
  t.notOk(existsSync(join(dir, 'link')))
  t.equal(readFileSync(join(dir, 'target'), 'utf8'), 'as it was')
  await removeSlowly(join(dir, 'link'))
})
