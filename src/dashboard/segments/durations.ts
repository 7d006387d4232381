import { afterMs } from '../../rules/index.js'
import { plural } from '../format.js'

const units = [
  ['week', 'W'],
  ['day', 'D'],
  ['hour', 'H'],
  ['minute', 'M'],
  ['second', 'S'],
] as const
const hasTime = (letter: string) => !'WD'.includes(letter)

/** An ISO 8601 duration as people say it, part by part: `30 days`, `1 day 12 hours`; what is none as it is. */
export function spokenDuration(iso: string): string {
  if (afterMs(iso) === undefined) return iso
  const [days = '', times = ''] = iso.slice(1).split('T')
  const parts = [...partsOf(days, 'WD'), ...partsOf(times, 'HMS')]
  return parts.join(' ')
}

const partsOf = (text: string, letters: string) =>
  [...text.matchAll(/(\d+)([WDHMS])/g)].flatMap(([, count = '', letter = '']) => {
    const unit = units.find(([, one]) => one === letter && letters.includes(one))
    return unit === undefined ? [] : [plural(Number(count), unit[0]).replaceAll(',', '')]
  })

/** `30 days`, `1 day 12 hours`, `90m` or ISO 8601 as a duration; what is none of them as it is, and so refused. */
export function typedDuration(typed: string): string {
  if (/^P/.test(typed)) return typed
  const words = [...typed.toLowerCase().matchAll(/(\d{1,6})\s*([a-z]+)[\s,]*/g)]
  const parts = words.flatMap(([, count = '', word = '']) => {
    const unit = units.find(([name, letter]) =>
      [name, `${name}s`, letter.toLowerCase(), ...(short[name] ?? [])].includes(word),
    )
    return unit === undefined ? [] : [{ count, letter: unit[1] }]
  })
  const isAll = words.length > 0 && words.map(([all]) => all).join('') === typed.toLowerCase()
  if (!isAll || parts.length < words.length) return typed
  const said = (isTime: boolean) =>
    parts
      .filter(({ letter }) => hasTime(letter) === isTime)
      .map(({ count, letter }) => `${count}${letter}`)
      .join('')
  const times = said(true)
  return `P${said(false)}${times === '' ? '' : `T${times}`}`
}

const short: Readonly<Record<string, readonly string[]>> = {
  hour: ['hr', 'hrs'],
  minute: ['min', 'mins'],
  second: ['sec', 'secs'],
}
