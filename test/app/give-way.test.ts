import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { startPosthorn } from '../support/posthorn.js'

const skip = process.platform !== 'linux' && 'a niceness is a thread’s on Linux alone'

t.test('threads that deliver give way to the one that answers', { skip }, async (t) => {
  t.notOk(niceThreads().size > 0)
  await startPosthorn(t)
  const given = niceThreads()
  t.ok(given.size >= 2, 'outbound and checkpoint')
  t.notOk(given.has(process.pid))
})

/** The threads of this process that are behind others. */
function niceThreads(): Set<number> {
  const nice = readdirSync('/proc/self/task').filter((thread) => {
    // proc(5): the name, in parentheses, is the second of the fields, the niceness the 19th.
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]) > 0
  })
  return new Set(nice.map(Number))
}
