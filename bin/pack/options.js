// What bin/release is asked for. Of no package: it is read before they are there, too.
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { pairs } from '../../.runtimes/choice.js'

class Misuse extends Error {}

/** `{ runtime: names of pairs, arch, out, level }`; a wrong command line ends the process with status 2. */
export const options = read()

function read() {
  try {
    const { values } = parseArgs({
      options: {
        runtime: { type: 'string', multiple: true, default: Object.keys(pairs) },
        arch: { type: 'string', default: process.arch },
        out: { type: 'string', default: fileURLToPath(new URL('../../.build/release', import.meta.url)) },
        level: { type: 'string', default: '6' },
      },
    })
    check(values)
    return values
  } catch (error) {
    if (!(error instanceof Misuse) && error.code?.startsWith('ERR_PARSE_ARGS') !== true) throw error
    // Node explains at length how an argument may begin with '-'.
    const [sentence] = error.message.split('. ')
    process.stderr.write(`bin/release: ${sentence}; 'bin/release --help' shows how it is used\n`)
    return process.exit(2)
  }
}

function check({ runtime, arch, level }) {
  for (const name of runtime) {
    if (!Object.hasOwn(pairs, name)) {
      throw new Misuse(`no runtime pair is called '${name}', only ${Object.keys(pairs).join(' and ')}`)
    }
    if (!Object.hasOwn(pairs[name].sha256, arch)) {
      throw new Misuse(`${name} has no files for the processor '${arch}'`)
    }
  }
  if (!/^\d$/.test(level)) throw new Misuse(`the level is a digit from 0 to 9, not '${level}'`)
}
