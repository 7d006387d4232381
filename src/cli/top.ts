import { writeSync } from 'node:fs'
import { type Command, Option } from 'commander'
import { listAccounts } from '../accounts/index.js'
import { pause, systemClock } from '../clock/index.js'
import type { Overview } from '../doctor/index.js'
import { OperatorError } from '../errors/index.js'
import { askAppliance, overviewMs } from './ask.js'
import { withStore } from './database.js'
import { seconds } from './option-values.js'
import { type CommandPlace, placeOf } from './place.js'
import { frameOf, type SortBy, sortings } from './top-frame.js'

/** Options of `posthorn top`. */
interface Options {
  interval: number
  once?: boolean
  sort: SortBy
  node?: string
}

/** `posthorn top`: a frame every few seconds, from the running appliance's memory. */
export function topCommand(program: Command): void {
  program
    .command('top')
    .description('what goes on now: rates, busiest sites and accounts, threads; q ends it')
    .option('--interval <seconds>', 'how often it is refreshed, from 1 to 60', seconds(1, 60), 2)
    .option('--once', 'print one frame, after one interval, and end')
    .addOption(
      new Option('--sort <by>', 'how the sites are sorted')
        .choices(sortings)
        .default('connections'),
    )
    .option('--node <name>', 'of another node than the one on this machine')
    .addHelpText(
      'after',
      `
Examples:
  $ posthorn top
  $ posthorn top --once | head -20
  $ posthorn top --interval 10 | tee top.log

Keys: q or Ctrl-C ends it; c, w, s sort the sites by connections, by what waits, by name. Over a pipe frames
come below each other, without colour. All of it comes from the running appliance's memory: no query is made
for it, so it may run for hours.

SITES has sockets of the limit, lanes of accounts with mail due, and why no more starts now. LAG is the longest
that a thread came late to anything within the last minute; CPU is of one core.`,
    )
    .action(async ({ interval, once, sort, node }: Options, command: Command) => {
      const place = placeOf(command)
      const names = await withStore(place, async ({ store }) =>
        Object.fromEntries((await listAccounts(store.read)).map(({ id, name }) => [id, name])),
      )
      const screen = openScreen(process.stdout, process.stdin)
      screen.sortBy(sort)
      try {
        // Rates are differences, so there is nothing to show before the second look.
        let before = await ask(place, node)
        while (!screen.ended) {
          await screen.pause(interval * 1_000)
          if (screen.ended) break
          const now = await ask(place, node)
          // Keys between two frames show the same frame, sorted anew.
          screen.show((by, size) => frameOf({ before, now, names, sort: by }, size))
          before = now
          if (once) break
        }
      } finally {
        screen.close()
      }
    })
}

/** One look at the appliance; OperatorError when none answers. */
async function ask(place: CommandPlace, node: string | undefined): Promise<Overview> {
  const { overview, unheard } =
    (await askAppliance(place, { overview: true, node }, overviewMs)) ?? {}
  if (overview !== undefined) return overview
  if (unheard !== undefined) throw new OperatorError(`It cannot be asked: ${unheard}`)
  throw new OperatorError(
    `No appliance answers that runs on ${place.dataDir}. 'posthorn status' shows what the database knows; 'systemctl start posthorn' starts it`,
  )
}

// xterm's control sequences (ECMA-48 and private modes 25 and 1049): the other screen, the cursor
// hidden.
const enter = '\x1b[?1049h\x1b[?25l'
const leave = '\x1b[?25h\x1b[?1049l'
const home = '\x1b[H'
const clearLine = '\x1b[K'
const clearBelow = '\x1b[J'

/** Makes the lines of a frame for the room that there is. */
type Draw = (sort: SortBy, size: { columns: number; rows: number; colours: boolean }) => string[]

/**
 * A terminal's other screen with its cursor hidden, and keys without Enter; or lines, if the output is
 * no terminal. However the process ends, the terminal is restored.
 */
function openScreen(out: NodeJS.WriteStream, keys: NodeJS.ReadStream) {
  const isTerminal = out.isTTY === true
  const hasKeys = isTerminal && keys.isTTY === true
  const ending = new AbortController()
  let sort: SortBy = 'connections'
  let draw: Draw = () => []
  let isOpen = isTerminal

  const paint = () => {
    // A terminal without a known size reports 0.
    const size = { columns: out.columns || 120, rows: out.rows || 50, colours: isTerminal }
    if (!isTerminal) {
      const lines = draw(sort, { ...size, columns: 160, rows: 60 })
      if (lines.length > 0) out.write(`${lines.join('\n')}\n\n`)
      return
    }
    const lines = draw(sort, size).slice(0, size.rows - 1)
    out.write(home + lines.map((line) => `${line}${clearLine}\n`).join('') + clearBelow)
  }
  const restore = () => {
    if (!isOpen) return
    isOpen = false
    if (hasKeys) keys.setRawMode(false)
    // At once: the process may be ending.
    writeSync(1, leave)
  }
  const end = () => ending.abort()
  // Keys pressed quickly arrive together.
  const onKeys = (pressed: string) => {
    for (const key of pressed) {
      // In raw mode Ctrl-C arrives as a key and not as a signal.
      if (key === 'q' || key === '\x03') return end()
      sort = sortings.find((name) => keyOf[name] === key) ?? sort
    }
    paint()
  }
  // A reader that stops early (head) is no fault.
  const onError = () => end()

  out.on('error', onError)
  process.on('SIGINT', end).on('SIGTERM', end).on('exit', restore)
  if (isTerminal) {
    out.write(enter)
    out.on('resize', paint)
  }
  if (hasKeys) keys.setRawMode(true).setEncoding('utf8').on('data', onKeys).resume()

  return {
    get ended() {
      return ending.signal.aborted
    },
    sortBy(by: SortBy) {
      sort = by
    },
    show(next: Draw) {
      draw = next
      paint()
    },
    pause: (ms: number) => pause(systemClock, ms, ending.signal),
    close() {
      restore()
      if (hasKeys) keys.off('data', onKeys).pause()
      out.off('resize', paint).off('error', onError)
      process.off('SIGINT', end).off('SIGTERM', end).off('exit', restore)
    },
  }
}

/** The key for each order. */
const keyOf: Record<SortBy, string> = { connections: 'c', waiting: 'w', site: 's' }
