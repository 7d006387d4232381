import { type Command, Option } from 'commander'
import { type SettingInForce, settings, settingsInForce, shownSetting } from '../config/index.js'
import { OperatorError } from '../errors/index.js'
import type { CommandRow } from './command-row.js'
import { say, sayJson, sayTable } from './output.js'
import { placeOf, settingsOf } from './place.js'

/** `posthorn config show`: what is in force, and who said so. */
export const configShowRows: readonly CommandRow[] = [
  {
    usage: 'show [name]',
    about: 'show the settings in force, their values and where each comes from',
    options: [new Option('--changed', 'only what is not the default')],
    help: `Examples:
  $ posthorn config show --changed
  $ posthorn config show outbound
  $ posthorn config show http.private.port --json

A running appliance has those of its start. Passwords are in files and variables that settings name, and not here;
what looks like one in an address or a command is not shown.`,
    run: runShow,
  },
]

/**
 * Each value is told with its source, because a setting without effect is nearly always set in a
 * second place too: the environment wins over the file, and the file over the default.
 */
function runShow(name: string | undefined, { changed }: { changed?: true }, command: Command) {
  const place = placeOf(command)
  const { configFile: file } = place
  const source = { env: process.env, ...(file === undefined ? {} : { file }) }
  const all = settingsInForce(settings, settingsOf(place), source)
  const chosen = all.filter((one) => isNamed(one, name))
  if (chosen.length === 0) {
    const sections = [...new Set(all.map((one) => one.name.split('.')[0]))]
    throw new OperatorError(`There is no setting or section ${name}`, {
      advice: `the sections are ${sections.join(', ')}`,
    })
  }
  const shown = chosen.map(shownSetting).filter(({ source }) => !changed || source !== 'default')
  if (place.json) {
    return sayJson(
      shown.map(({ name, value, source, line, variable }) => ({
        name,
        value,
        source,
        file: line === null ? null : file,
        line,
        variable,
      })),
    )
  }
  sayTable(
    ['SETTING', 'VALUE', 'FROM'],
    shown.map(({ name, text, from }) => [name, text, from]),
    'Every setting is at its default',
  )
  if (file !== undefined) say(`\nThe lines are those of ${file}`)
}

/** A setting by its whole name, or all of a section. */
const isNamed = (one: SettingInForce, name: string | undefined) =>
  name === undefined || one.name === name || one.name.startsWith(`${name}.`)
