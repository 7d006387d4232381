import type { Command } from 'commander'
import * as operations from '../forms/contract.js'
import { formAnswer, formsAnswer, shownForm, updateForm } from '../forms/index.js'
import { answeringWith, type CommandDeps } from './answering.js'
import { addCommands, type CommandRow } from './command-row.js'
import { accountOption } from './database.js'
import { say, sayTable } from './output.js'
import { type CommandPlace, settingsOf } from './place.js'

/** The address of the forms' pages; without the setting the account's own pages tell it. */
const publicOf = (place: CommandPlace) => ({ publicUrl: settingsOf(place).http.public.url })

type FormCommandDeps = CommandDeps & ReturnType<typeof publicOf>

/** `posthorn form`: the forms by which people sign up for an account's mail. */
export function formCommands(program: Command): void {
  const form = program.command('form').description('forms by which people sign up themselves')
  addCommands(form, rows)
}

const rows: readonly CommandRow[] = [
  {
    usage: 'list',
    does: operations.listForms,
    about: 'show the forms of an account, and how each does',
    options: [accountOption()],
    help: 'Example:\n  $ posthorn form list',
    run: answeringWith(publicOf, list),
  },
  {
    usage: 'show <id>',
    does: operations.getForm,
    about: 'show one form with its figures',
    options: [accountOption()],
    help: 'Example:\n  $ posthorn form show 01a1fc92-0000-7000-8000-5f0e1c2d3b4a',
    run: answeringWith(publicOf, show),
  },
  {
    usage: 'archive <id>',
    does: operations.updateForm,
    about: 'take a form out of use; its page takes nobody any more',
    options: [accountOption()],
    help: 'Example:\n  $ posthorn form archive 01a1fc92-0000-7000-8000-5f0e1c2d3b4a',
    run: answeringWith(publicOf, archived(true)),
  },
  {
    usage: 'restore <id>',
    does: operations.updateForm,
    about: 'take a form into use again',
    options: [accountOption()],
    help: 'Example:\n  $ posthorn form restore 01a1fc92-0000-7000-8000-5f0e1c2d3b4a',
    run: answeringWith(publicOf, archived(false)),
  },
]

const shown = ({ publicUrl, clock }: FormCommandDeps) => ({
  publicUrl,
  now: clock.now(),
})

async function list(deps: FormCommandDeps) {
  const json = await formsAnswer(deps.store.read, (await deps.account()).id, shown(deps))
  return {
    json,
    say: () =>
      sayTable(
        ['ID', 'NAME', 'STATE', 'SHOWN', 'SENT IN', 'CONFIRMED', 'HELD BACK'],
        json.forms.map(({ id, name, state, figures }) => [
          id,
          name,
          state,
          String(figures.shown),
          String(figures.sentIn),
          String(figures.confirmed),
          String(figures.heldBack),
        ]),
        'No form yet; the dashboard has a page that makes one',
      ),
  }
}

async function show(deps: FormCommandDeps, id: string) {
  const json = await formAnswer(deps.store.read, (await deps.account()).id, id, shown(deps))
  return {
    json,
    say: () => {
      const { shown, sentIn, confirmed, heldBack, held, lately } = json.figures
      const until = json.carefulUntil === null ? '' : `, careful until ${json.carefulUntil}`
      say(`Form "${json.name}" (${json.state}${until}): ${json.address}`)
      say(`Shown ${shown}, sent in ${sentIn}, confirmed ${confirmed}, held back ${heldBack}`)
      say(
        `Today and yesterday: ${lately.mails} confirmations sent, ${lately.bounces} bounced, ${lately.complaints} called spam`,
      )
      say(
        json.sender === ''
          ? 'Nobody gets a confirmation: the account may not send from its sender'
          : `Confirmations come from ${json.sender}`,
      )
      for (const one of held) say(`  ${one.held} by ${one.reason}`)
    },
  }
}

function archived(archived: boolean) {
  return async (deps: FormCommandDeps, id: string) => {
    const form = await updateForm(deps, (await deps.account()).id, id, { archived })
    return {
      json: await shownForm(deps.store.read, form, shown(deps)),
      say: () => say(`Form "${form.name}" is ${archived ? 'archived' : 'in use'}`),
    }
  }
}
