// SPDX-License-Identifier: MIT
// Names of kernels for people.
#ifndef KR_NAMES_H
#define KR_NAMES_H

// "void scale<float>(float*, int) [clone .kd]" for "_Z5scaleIfEvPT_i.kd"; a copy of the name when it is not
// mangled. NULL when out of memory; the caller frees.
char *kr_name_demangle(const char *mangled);

#endif
