import { parentPort, workerData } from 'node:worker_threads'
import { cpuFileOfThread, openCpuClock } from '../clock/index.js'
import { type Budget, makeBudget } from './budget.js'
import type { RenderJob, RenderOrder, RenderReport } from './job.js'

/** The life of the thread that renders: it answers jobs in the order in which they come. */
export async function serveRenders(): Promise<void> {
  const port = parentPort
  if (port === null) throw new Error('This renders templates in a worker thread; it is no program')
  const report = (message: RenderReport) => port.postMessage(message)
  // The job that is being worked on, for the watch in the main thread; 0 is none.
  const current = workerData as Int32Array
  const cpuFile = cpuFileOfThread()
  const cpu = openCpuClock(cpuFile)
  const budget = makeBudget(cpu)
  // Imported here, so that nothing else that imports this folder loads liquidjs.
  const { makeRenderJob } = await import('./render-job.js')
  const { makeCompileJob } = await import('./compile-job.js')
  boundArrayJoin(budget)
  const renderJob = makeRenderJob(budget)
  // Warms up, so that the first job does not wait for V8's compiler.
  for (let i = 0; i < 50; i++) renderJob(sample)

  let compile: ReturnType<typeof makeCompileJob> | undefined
  port.on('message', (order: RenderOrder) => {
    if (order.kind === 'stop') {
      cpu.close()
      return port.close()
    }
    const { serial, job } = order
    // Loading the compiler takes tenths of a second, which must not count for the first job.
    if ('document' in job) compile ??= makeCompileJob()
    Atomics.store(current, 0, serial)
    const outcome = 'document' in job ? compile?.(job) : renderJob(job)
    Atomics.store(current, 0, 0)
    if (outcome !== undefined) report({ kind: 'done', serial, outcome })
  })
  report({ kind: 'ready', cpuFile })
}

const sample: RenderJob = {
  accountId: '',
  subject: { key: null, liquid: 'Hello {{ name }}' },
  html: {
    key: null,
    liquid: `<h1>{{ name | default: "you" }}</h1>{% if items %}<ul>{% for item in items %}
      <li>{{ item.name | upcase }}: {{ item.price | times: 2 }}</li>{% endfor %}</ul>{% endif %}`,
  },
  text: { key: null, liquid: '{% assign n = items | size %}{{ n }} for {{ name }}' },
  variables: JSON.stringify({
    name: 'A <b>',
    items: [
      { name: 'x', price: 1 },
      { name: 'y', price: 2 },
    ],
  }),
  strict: true,
}

/**
 * Makes every array that turns into text, anywhere in liquidjs (or by `+` and `<`), draw on the budget: 2,000
 * references to one variable of 256 KB would be half a gigabyte in one piece. This holds for the whole thread, which
 * does nothing but render.
 */
function boundArrayJoin(budget: Budget): void {
  const join = Array.prototype.join
  Array.prototype.join = function bounded(this: unknown[], separator: string = ',') {
    let length = String(separator).length * this.length
    for (let i = 0; i < this.length; i++) {
      const item = this[i]
      length += typeof item === 'string' ? item.length : 1
    }
    budget.take(length)
    return join.call(this, separator)
  }
}
