/* Implement the dice of `fairplay.core.chance.Dice`. */

#ifndef DICE_H
#define DICE_H

#include <stdint.h>

static inline uint64_t mixed(uint64_t number) {
    number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9ull;
    number = (number ^ number >> 27) * 0x94d049bb133111ebull;
    return number ^ number >> 31;
}

static inline uint64_t below(uint64_t *dice, uint64_t limit) {
    *dice += 0x9e3779b97f4a7c15ull;
    return (mixed(*dice) >> 32) * limit >> 32;
}

#endif
