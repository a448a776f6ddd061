// SPDX-License-Identifier: MIT
// The short form of a demangled kernel name.
#ifndef KR_SHORT_NAME_H
#define KR_SHORT_NAME_H

// "scale" for "void ns::scale<float>(float*, int) [clone .kd]": no return type, namespaces, template arguments
// or parameters. Takes a demangled name; NULL when out of memory; the caller frees.
char *kr_short_name(const char *demangled);

#endif
