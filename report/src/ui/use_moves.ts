// SPDX-License-Identifier: Apache-2.0
import {useEffect, useReducer} from 'preact/hooks';

import type {Model} from '../model';

/** Renders again when the picture has come to rest at another place. */
export function useMoves(model: Model): void {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  useEffect(() => {
    let timer: number | undefined;
    const stop = model.onMove(() => {
      clearTimeout(timer);
      timer = setTimeout(() => redraw(0), 200);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, []);
}
