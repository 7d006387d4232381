import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { frameOf } from '../../src/cli/top-frame.js'
import type { Overview } from '../../src/doctor/index.js'
import { startPosthorn } from '../support/posthorn.js'
import { missing } from '../support/tools.js'
import { openPlace } from './place.js'
import { main, outcomeOf, runCli, startCli } from './run.js'

t.setTimeout(120_000)

const size = { columns: 110, rows: 40, colours: false }

function overviewOf(at: number, delivered: number, more: Partial<Overview> = {}): Overview {
  return {
    version: '1.2.3',
    release: '1.2.3',
    startedAt: 0,
    now: at,
    listeners: [],
    unhealthy: [],
    unready: [],
    hasRoomForCampaigns: true,
    rates: null,
    sites: [],
    accounts: [],
    series: [
      { metricName: 'posthorn_attempts_total', labels: { outcome: 'delivered' }, value: delivered },
      { metricName: 'posthorn_thread_lag_seconds', labels: { thread: 'main' }, value: 0.25 },
      {
        metricName: 'posthorn_thread_cpu_seconds_total',
        labels: { thread: 'main' },
        value: at / 2_000,
      },
    ],
    ...more,
  }
}

const site = (name: string, connections: number, streams: number) => ({
  site: name,
  connections,
  limit: 20,
  streams,
  gate: null,
  why: '',
  until: null,
})

t.test(
  'a frame has rates a second, threads, and sites in the order that is asked for',
  async (t) => {
    const sites = [
      site('b.test', 7, 1),
      site('a.test', 3, 9),
      {
        ...site('evil\x1b[2Jname', 0, 2),
        gate: 'suspended' as const,
        why: '421 no\nmore',
        until: 64_000,
      },
    ]
    const accounts = [
      { accountId: 'x', streams: 4 },
      { accountId: 'x', streams: 1 },
    ]
    const told = {
      before: overviewOf(2_000, 10),
      now: overviewOf(4_000, 40, { sites, accounts }),
      names: { x: 'City library' },
    }
    const frame = frameOf({ ...told, sort: 'connections' }, size)
    const text = frame.join('\n')
    t.match(text, 'delivered 15.0/s')
    t.match(text, /^main +50 % +250 ms$/m)
    t.match(text, /^b\.test +7 of 20 +1$/m)
    t.match(text, /^City library +5$/m)
    t.match(text, /suspended +for 60 s: 421 no more$/m)
    t.notMatch(text, '\x1b', 'a name of others moves no cursor')
    t.ok(frame.every((line) => line.length <= size.columns))
    const order = (sort: 'connections' | 'waiting' | 'site') =>
      frameOf({ ...told, sort }, size)
        .filter((line) => /^[ab]\.test/.test(line))
        .map((line) => line[0])
        .join('')
    t.same([order('connections'), order('waiting'), order('site')], ['ba', 'ab', 'ab'])
  },
)

t.test('in a low terminal the threads are still there', async (t) => {
  const sites = Array.from({ length: 40 }, (_, i) => site(`s${i}.test`, 1, 1))
  const now = overviewOf(4_000, 1, { sites })
  const frame = frameOf({ before: now, now, names: {}, sort: 'site' }, { ...size, rows: 24 })
  t.ok(frame.length <= 24, `${frame.length} lines`)
  t.ok(frame.some((line) => line.startsWith('main ')))
})

t.test('--once prints one frame without colour and ends', async (t) => {
  const posthorn = await startPosthorn(t)
  const env = { POSTHORN_DATA: posthorn.dataDir }
  const threads = ['main', 'outbound-0', 'checkpoint']
  const look = () => runCli(['top', '--once', '--interval', '1'], { env })
  let done = await look()
  // Each thread tells of itself some seconds after its start.
  while (done.status === 0 && threads.some((thread) => !done.stdout.includes(`\n${thread} `))) {
    done = await look()
  }
  t.match(done, { status: 0, stderr: '' })
  t.match(done.stdout, /^Posthorn \S+ +\d\d:\d\d:\d\d UTC +up .*\naccepted 0\/s/)
  for (const thread of threads) {
    t.match(done.stdout, new RegExp(`^${thread} +\\d+ % +\\d+ ms$`, 'm'))
  }
  t.notMatch(done.stdout, '\x1b')
})

t.test('over a pipe frames follow each other until SIGINT', async (t) => {
  const posthorn = await startPosthorn(t)
  const child = startCli(['top', '--interval', '1'], { env: { POSTHORN_DATA: posthorn.dataDir } })
  const done = outcomeOf(child)
  let frames = 0
  child.stdout?.on('data', (text: string) => {
    frames += text.split('THREAD ').length - 1
    if (frames === 2) child.kill('SIGINT')
  })
  const { status, stdout } = await done
  t.equal(status, 0)
  t.ok(frames >= 2)
  t.notMatch(stdout, '\x1b')
})

t.test(
  'a terminal is as before after q, SIGTERM, and a stop of the appliance',
  { skip: missing('script') },
  async (t) => {
    const posthorn = await startPosthorn(t)
    const command = `${process.execPath} ${main} top --interval 1`
    const open = () => {
      const child = spawn('script', ['-qfec', command, '/dev/null'], {
        env: {
          ...process.env,
          POSTHORN_DATA: posthorn.dataDir,
          TERM: 'xterm',
          NODE_V8_COVERAGE: '',
        },
        stdio: ['pipe', 'pipe', 'ignore'],
      })
      let text = ''
      child.stdout.setEncoding('utf8').on('data', (more) => {
        text += more
      })
      const drawn = async () => {
        while (!text.includes('THREAD')) await new Promise((resolve) => setTimeout(resolve, 20))
      }
      return { child, drawn, text: () => text }
    }
    const restored = /\x1b\[\?1049h[\s\S]*\x1b\[\?25h\x1b\[\?1049l/
    const one = open()
    await one.drawn()
    one.child.stdin.write('w')
    one.child.stdin.write('q')
    t.equal((await once(one.child, 'close'))[0], 0)
    t.match(one.text(), restored)

    const two = open()
    await two.drawn()
    await posthorn.appliance.close()
    t.equal((await once(two.child, 'close'))[0], 1)
    t.match(two.text(), restored)
    t.match(two.text(), 'No appliance answers that runs on')
  },
)

t.test('without a running appliance it says what to do', async (t) => {
  const place = await openPlace(t)
  await place.refused(
    /No appliance answers .*'systemctl start posthorn' starts it/,
    'top',
    '--once',
  )
  t.match(await place.run('top', '--interval', '0'), { status: 2 })
  t.match(await place.run('top', '--sort', 'size'), { status: 2 })
})
