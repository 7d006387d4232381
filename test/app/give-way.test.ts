import { readdirSync, readFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import t from 'tap'
import { startPosthorn } from '../support/posthorn.js'

const skip = process.platform !== 'linux' && 'a niceness is a thread’s on Linux alone'

t.test('threads that deliver stand five steps behind the one that answers', { skip }, async (t) => {
  // As `nice` starts it: they stand behind that, not behind 0.
  setPriority(0, getPriority(0) + 3)
  const own = getPriority(0)
  await startPosthorn(t)
  const all = niceThreads()
  t.equal(all.get(process.pid), own)
  const behind = [...all.values()].filter((niceness) => niceness === own + 5)
  t.ok(behind.length >= 2, 'outbound and checkpoint')
  t.equal(Math.max(...all.values()), own + 5)
})

/** The niceness of each thread of this process. */
function niceThreads(): Map<number, number> {
  return new Map(
    readdirSync('/proc/self/task').map((thread) => {
      // proc(5): the name, in parentheses, is the second of the fields, the niceness the 19th.
      const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8')
      return [Number(thread), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])]
    }),
  )
}
