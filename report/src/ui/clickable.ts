// SPDX-License-Identifier: Apache-2.0
// For rows of a list.

/** What can be clicked can be reached with the keyboard, too. */
export function clickable(act: () => void) {
  return {
    tabIndex: 0, role: 'button' as const, onClick: act,
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      event.stopPropagation();
      act();
    },
  };
}
