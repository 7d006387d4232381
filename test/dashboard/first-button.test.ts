// Return in a line presses the first button of its form, wherever that stands: in no form of any page may that be one that takes
// something away or does another thing than the form's own button.
import t from 'tap'
import { placePages, startWorld } from '../browser/every-page.js'

t.setTimeout(600_000)

const attribute = (tag: string, name: string) => new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1]

const notTyped = ['hidden', 'submit', 'button', 'file']

interface Pressed {
  /** What Return presses. */
  tag: string
  says: string
  isOnly: boolean
}

/** The forms of a page in which somebody can press Return, with the button that it presses. */
function pressedIn(html: string): Pressed[] {
  // In the order of the page: a form's own elements, and those that name it by its id.
  const forms: {
    id: string | undefined
    typed: boolean
    buttons: { tag: string; says: string }[]
  }[] = []
  let open: (typeof forms)[number] | undefined
  const waiting: { form: string; tag: string; says: string }[] = []
  for (const [all, says, end, name] of html.matchAll(
    /<button\b[^>]*>([\s\S]*?)<\/button>|<(\/?)(form|input)\b[^>]*>/g,
  )) {
    const tag = all.slice(0, all.indexOf('>') + 1)
    if (name === 'form') {
      const id = attribute(tag, 'id')
      const before = waiting.filter(({ form }) => form === id)
      open = end ? undefined : { id, typed: false, buttons: before }
      if (open) forms.push(open)
      continue
    }
    const of = attribute(tag, 'form')
    const owner = of === undefined ? open : forms.find(({ id }) => id === of)
    if (name === 'input') {
      const isTyped = !notTyped.includes(attribute(tag, 'type') ?? 'text')
      if (owner && isTyped) owner.typed = true
    } else if ((attribute(tag, 'type') ?? 'submit') === 'submit' && !/\sdisabled\b/.test(tag)) {
      const button = { tag, says: (says ?? '').replace(/<[^>]*>/g, '') }
      if (owner) owner.buttons.push(button)
      else if (of !== undefined) waiting.push({ form: of, ...button })
    }
  }
  return forms.flatMap(({ typed, buttons: [first, ...others] }) =>
    typed && first !== undefined ? [{ ...first, isOnly: others.length === 0 }] : [],
  )
}

/** The form's own button, one that asks first, or one that was put there for Return alone. */
function isHarmless({ tag, says, isOnly }: Pressed): boolean {
  const isOwn = !/\s(name|formaction)=/.test(tag)
  const isForReturn = /class="hidden"/.test(tag) && /\stabindex="-1"/.test(tag)
  return isOnly || isOwn || isForReturn || /class="primary"/.test(tag) || says.trim().endsWith('…')
}

t.test('Return does no harm in any form', async (t) => {
  t.same(
    pressedIn(
      '<form><input name="a"><button name="do" value="remove">Remove</button><button>Save</button></form>',
    ).map(isHarmless),
    [false],
  )
  const world = await startWorld(t)
  const places = await placePages()
  for (const { fill } of places) await fill?.(world)
  let forms = 0
  for (const { path, as, status = 200 } of places.flatMap(({ pages }) => pages(world))) {
    if (as === undefined || status !== 200) continue
    const { text } = await world.people[as].get(path)
    for (const pressed of pressedIn(text)) {
      forms++
      if (!isHarmless(pressed)) t.fail(`${path}: Return presses ${pressed.tag} ${pressed.says}`)
    }
  }
  t.ok(forms > 100, `${forms} forms`)
})
