import type { Strings } from './strings.js'

const unaffected = 'Los correos sobre sus propios pedidos o su cuenta no cambian.'
const underWay = 'Un correo que ya está en camino aún puede llegar.'

export const spanish: Strings = {
  language: 'es',
  footerReason: (account, topic) =>
    topic === undefined
      ? `Recibe este correo de ${account}.`
      : `Recibe este correo de ${account} sobre «${topic}».`,
  footerChoose: 'Elegir lo que recibe',
  footerLeave: 'Darse de baja',
  someTopic: 'este tema',
  ask: {
    title: '¿Darse de baja?',
    lines: ({ account, address, topic }) => [
      topic === undefined
        ? `${account} no enviará más correos comerciales a ${address}.`
        : `${account} no enviará más correos sobre «${topic}» a ${address}.`,
      unaffected,
    ],
    button: 'Darse de baja',
  },
  done: {
    title: 'Se ha dado de baja',
    lines: ({ account, address, topic }) => [
      topic === undefined
        ? `${address} ya no recibe correos comerciales de ${account}.`
        : `${address} ya no recibe correos sobre «${topic}» de ${account}.`,
      underWay,
    ],
    button: 'Deshacer: suscribirse de nuevo',
  },
  back: {
    title: 'Está suscrito de nuevo',
    lines: ({ account, address, topic }) => [
      topic === undefined
        ? `${address} recibe de nuevo correos comerciales de ${account}.`
        : `${address} recibe de nuevo correos sobre «${topic}» de ${account}.`,
    ],
    button: 'Darse de baja',
  },
  reason: {
    legend: '¿Nos diría por qué? No es obligatorio.',
    choices: {
      too_many: 'Recibo demasiados',
      not_wanted: 'Ya no los quiero',
      never_asked: 'Nunca los pedí',
      other: 'Otra cosa',
    },
    words: 'Con sus propias palabras',
    button: 'Enviar',
    thanks: 'Gracias.',
  },
  toCentre: 'Elegir por tema lo que recibe',
  centre: {
    title: ({ account }) => `Lo que recibe de ${account}`,
    intro: {
      subscribed: ({ account, address }) =>
        `Esta página trata de los correos comerciales que ${account} envía a ${address}.`,
      left: ({ account, address }) =>
        `${account} no envía correos comerciales a ${address}: se ha dado de baja de todo.`,
    },
    unaffected,
    unreachable: ({ account, address }) =>
      `Los correos de ${account} no pueden llegar a ${address} en este momento, y esta página no puede cambiarlo. Lo que elija aquí se guarda. Si echa de menos sus correos, escríbales.`,
    legend: 'Marque lo que desea recibir',
    save: 'Guardar mi elección',
    parts: {
      line: 'Hay más temas. Guarde aquí su elección antes de seguir.',
      earlier: 'Temas anteriores',
      more: 'Más temas',
    },
    fields: {
      title: ({ account }) => `Lo que ${account} sabe de usted`,
      line: 'Puede cambiarlo aquí o dejarlo vacío.',
      none: '– nada –',
      save: 'Guardar mis cambios',
      saved: 'Sus cambios están guardados.',
      notSaved: 'Aún no se ha guardado nada: mire lo que está marcado, por favor.',
      wrong: {
        text: 'Escriba como máximo 300 caracteres en una línea, por favor.',
        number: 'Escriba un número, por ejemplo 12 o 3,5, por favor.',
        date: 'Escriba una fecha, por ejemplo 2026-11-29, por favor.',
        choice: 'Elija una de estas opciones, por favor.',
      },
    },
    leave: {
      title: '¿Nada en absoluto?',
      line: ({ account }) =>
        `Ningún correo comercial más de ${account}, ni siquiera sobre temas nuevos.`,
      button: 'Darse de baja de todo',
    },
    comeBack: {
      title: '¿Ha cambiado de idea?',
      line: ({ account }) => `Reciba los mismos correos comerciales de ${account} que antes.`,
      button: 'Suscribirse de nuevo',
    },
    status: {
      saved: 'Su elección está guardada.',
      savedNone:
        'Su elección está guardada: ninguno de estos temas. Aún pueden llegar correos sobre otras cosas; abajo puede darse de baja de todo.',
      stillLeft: 'No había nada marcado, así que nada ha cambiado.',
      left: `Se ha dado de baja de todo. ${underWay}`,
      back: 'Está suscrito de nuevo.',
    },
  },
  erased: {
    title: 'Sus datos se han borrado',
    lines: ({ account, address }) => [
      `${account} ha borrado lo que sabía de ${address} y ya no le envía correos comerciales.`,
      `Aquí no se ha cambiado ni guardado nada. Si desea recibir de nuevo correos de ${account}, suscríbase con uno de sus formularios.`,
    ],
  },
  shown: {
    title: 'Este enlace es solo una muestra',
    lines: [
      'Está en la copia de un correo que no es la del destinatario.',
      'En el propio correo lleva a la página para darse de baja.',
    ],
  },
  unknown: {
    title: 'Este enlace no funciona',
    lines: [
      'Quizá se cortó: ábralo de nuevo desde el correo o cópielo entero.',
      'También puede responder al correo y pedir que no le escriban más.',
    ],
  },
}
